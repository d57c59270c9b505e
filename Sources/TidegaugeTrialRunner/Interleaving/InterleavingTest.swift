// State of an interleaving test. Actors share it through traced locks, so that exploration also chooses the schedules
// here.
//
// Counters are atomics: the watchdog reads them without blocking.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeHangs
import TidegaugeMeasure
import TidegaugeSpec

final class InterleavingTest: Sendable {
    private struct State {
        var arrived: [String: Set<String>] = [:]
        var locks: [String: TracedMutex] = [:]
        var subscriptions: [String: [ScriptedSubscription]] = [:]
        var everyone: [ScriptedSubscription] = []
        var complaint: String?
        var isOver = false
        var lastVersion: Int64 = 0
        var stamp: Int64 = 0
    }

    let store: any DrivenStore
    let play: InterleavingSpec
    /// Prefix of the resources that only the test waits for. A wait for one of them does not count as blocked.
    static let pointPrefix = "meeting point "
    private static let lookNs: Int64 = 1_000_000
    /// Duration in ns after which a wait counts as blocked.
    private static let blockedNs: Int64 = 10_000_000

    private let state = Guarded("interleaving test", State())
    private let changed: TracedCondition
    private let sites: [String: DeliveryContext]
    /// Number of scripts, callbacks and blocks of each actor that run now or have been handed over.
    private let active: [String: ActiveCount]
    private let steps = Atomic<Int>(0)

    /// Whether all subscriptions of a delivery context must show one version, and can be checked for that.
    let advancesTogether: Bool

    init(_ store: any DrivenStore, _ play: InterleavingSpec, _ capabilities: Capabilities) {
        self.store = store
        advancesTogether = capabilities.advancesTogether && capabilities.hasContents
        self.play = play
        changed = TracedCondition("interleaving test", state)
        active = Dictionary(uniqueKeysWithValues: play.actors.map { ($0.name, ActiveCount()) })
        var sites: [String: DeliveryContext] = [:]
        for actor in play.actors {
            switch actor.place {
            case .thread: break
            case .runLoop: sites[actor.name] = DeliveryContext(actor.name, .runLoop)
            case .queue: sites[actor.name] = DeliveryContext(actor.name, .queue)
            }
        }
        self.sites = sites
    }

    // MARK: For the watchdog; any thread

    /// Count that grows with each step, callback, and end of a script or block.
    var progress: Int { steps.load(ordering: .relaxed) }
    func didStep() { steps.add(1, ordering: .relaxed) }

    /// The first error other than a hang.
    var fault: String? { state.withLock { $0.complaint } }

    func complain(_ text: String) { state.withLock { if $0.complaint == nil, !$0.isOver { $0.complaint = text } } }

    /// Ignores later complaints: callbacks that run while the store closes are not checked.
    func ignoreWhatFollows() { state.withLock { $0.isOver = true } }

    // MARK: Delivery contexts

    func site(_ name: String) -> DeliveryContext { sites[name]! }

    func end() { for site in sites.values { site.stop() } }

    // MARK: Running actors

    func begin(_ actor: String) { active[actor]?.value.add(1, ordering: .sequentiallyConsistent) }

    func end(_ actor: String) {
        active[actor]?.value.subtract(1, ordering: .sequentiallyConsistent)
        didStep()
    }

    func isIdle(_ actor: String) -> Bool { active[actor]?.value.load(ordering: .sequentiallyConsistent) == 0 }

    var areAllIdle: Bool { play.actors.allSatisfy { isIdle($0.name) } }

    private final class ActiveCount: Sendable { let value = Atomic<Int>(0) }

    /// Waits until an actor is blocked on a resource of the store or of the program, or is idle.
    func awaitBlocked(_ actor: String) {
        let waited = Tracing.wait(for: TracedResource(.signal, Self.pointPrefix + "blocked"), mayTimeOut: true) {
            [self] in isIdle(actor)
        }
        if waited { return }
        while !isIdle(actor), !isBlocked(actor) { Pacing.sleep(untilNs: MonotonicClock.nowNs() + Self.lookNs) }
    }

    private func isBlocked(_ actor: String) -> Bool {
        let snapshot = WaitSnapshot.recorded()
        let nowNs = MonotonicClock.nowNs()
        let isTraced = snapshot.threads.contains { thread in
            guard let wait = thread.wait, !wait.resource.name.hasPrefix(Self.pointPrefix) else { return false }
            let isMeant =
                thread.name == actor
                || thread.holds.contains { $0.resource.kind == .queue && $0.resource.name == actor }
            return isMeant && nowNs - wait.sinceNs >= Self.blockedNs
        }
        if isTraced { return true }
        // Waits for locks that are not traced are found through the kernel.
        let known = KernelView.threads()
        guard let thread = known.first(where: { $0.name == actor }), thread.owner != nil else { return false }
        Pacing.sleep(untilNs: nowNs + Self.blockedNs)
        return KernelView.threads().first { $0.tid == thread.tid }?.futex == thread.futex
    }

    // MARK: Points and locks

    /// Waits until every actor that names the barrier has reached it. The barrier stays open from then on.
    func arrive(at point: String, as actor: String) {
        let parties = play.actors.filter { $0.allSteps.contains(.barrier(point)) }.count
        let resource = TracedResource(.signal, Self.pointPrefix + point)
        state.withLock {
            $0.arrived[point, default: []].insert(actor)
            changed.broadcast()
        }
        state.wait(for: changed, from: resource) { $0.arrived[point]!.count >= parties }
    }

    func mutex(_ name: String) -> TracedMutex {
        state.withLock {
            if let known = $0.locks[name] { return known }
            let new = TracedMutex(name)
            $0.locks[name] = new
            return new
        }
    }

    // MARK: Commits and subscriptions

    /// Scores from here on belong to changed rows.
    static let changedScore: Int64 = 1_000_000

    /// Returns a change that moves the next row, in turn, to the highest score.
    func nextChange() -> Change {
        let stamp = state.withLock {
            $0.stamp += 1
            return $0.stamp
        }
        let key = stamp % Int64(InterleavingSpec.items)
        return Change(.updateScore, Item(key: key, group: 0, score: Self.changedScore + stamp, stamp: stamp))
    }

    func didCommit(_ version: Int64?) {
        guard let version else { return }
        state.withLock { $0.lastVersion = max($0.lastVersion, version) }
    }

    func add(_ subscription: ScriptedSubscription, as name: String) {
        state.withLock {
            $0.subscriptions[name, default: []].append(subscription)
            $0.everyone.append(subscription)
        }
    }

    /// Releases the observers of a delivery context, including cancelled ones. It breaks the reference cycle between an
    /// observer and its subscription, which also holds the store. Runs on the context.
    func dismiss(on site: String) {
        let mine = state.withLock { state in
            for name in state.subscriptions.keys { state.subscriptions[name]!.removeAll { $0.site == site } }
            defer { state.everyone.removeAll { $0.site == site } }
            return state.everyone.filter { $0.site == site }
        }
        for subscription in mine { subscription.dismiss() }
    }

    func remove(_ name: String) -> [ScriptedSubscription] {
        state.withLock { $0.subscriptions.updateValue([], forKey: name) ?? [] }
    }

    func didDeliver() {
        didStep()
        state.withLock { _ in changed.broadcast() }
    }

    /// Checks that the subscriptions of a delivery context show one version: of all rows shown on the context, each
    /// subscription shows exactly those that match its query. Runs on the context, in a callback.
    func checkTogether(on site: String) {
        let mine = state.withLock { $0.subscriptions.values.joined().filter { $0.site == site && $0.covered >= 0 } }
        guard advancesTogether, mine.count > 1 else { return }
        var all: [Int64: Item] = [:]
        var shown: [(subscription: ScriptedSubscription, keys: Set<Int64>)] = []
        for subscription in mine {
            guard let items = try? subscription.subscription?.currentItems() else { continue }
            for item in items { all[item.key] = item }
            shown.append((subscription, Set(items.map(\.key))))
        }
        for (subscription, keys) in shown {
            let expected = all.values.filter {
                subscription.query.matches(key: $0.key, group: $0.group, score: $0.score)
            }
            if Set(expected.map(\.key)) != keys {
                complain(
                    "a callback on '\(site)' saw two versions: of \(all.count) rows shown there, \(expected.count) belong to "
                        + "a query that shows \(keys.count)")
            }
        }
    }

    /// Waits until all subscriptions with a name have received the commit that is the last when the wait begins.
    func awaitCovered(_ name: String) {
        let resource = TracedResource(.signal, Self.pointPrefix + "covered")
        let version = state.withLock { $0.lastVersion }
        state.wait(for: changed, from: resource) {
            $0.subscriptions[name]?.allSatisfy { $0.covered >= version } ?? true
        }
    }
}

/// An observer of an interleaving test, with the steps that its callbacks run. Deliveries come one at a time.
///
/// Unchecked because its blocks and variables are used on the delivery context. Of the variables that are no atomics,
/// only `subscription` is also read elsewhere.
final class ScriptedSubscription: DeliverySink, @unchecked Sendable {
    let site: String
    let query: Query
    private let test: InterleavingTest
    private let initial: () -> Void
    private let update: () -> Void
    private let coveredVersion = Atomic<Int64>(-1)
    /// Used on the delivery context alone.
    private var hasUpdated = false
    /// Written on the delivery context. A script must not cancel it on another thread before.
    var subscription: (any DriverSubscription)?

    init(
        _ test: InterleavingTest, _ site: String, _ query: Query, initial: @escaping () -> Void,
        update: @escaping () -> Void
    ) {
        (self.test, self.site, self.query, self.initial, self.update) = (test, site, query, initial, update)
    }

    var covered: Int64 { coveredVersion.load(ordering: .acquiring) }

    private let isCancelled = Atomic<Bool>(false)

    /// Cancels the subscription if it has begun. Any thread.
    func cancel() {
        guard let subscription else { return }
        subscription.cancel()
        isCancelled.store(true, ordering: .sequentiallyConsistent)
    }

    func dismiss() {
        subscription?.cancel()
        subscription = nil
    }

    func deliver(_ delivery: borrowing Delivery) {
        if isCancelled.load(ordering: .sequentiallyConsistent) {
            test.complain("an observer on '\(site)' was called after its subscription had been cancelled")
        }
        // A delivery without a version covers everything.
        let version = delivery.version ?? .max
        if version < covered { test.complain("an observer on '\(site)' was called at \(version) after \(covered)") }
        coveredVersion.store(version, ordering: .releasing)
        test.didDeliver()
        test.checkTogether(on: site)
        if delivery.isInitial {
            initial()
        } else if !hasUpdated {
            hasUpdated = true
            update()
        }
    }

    func fail(_ error: any Error) { test.complain("a subscription failed: \(error)") }
}
