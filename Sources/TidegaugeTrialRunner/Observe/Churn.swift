// Observers that come and go while writers write, as lists on screens do. Each is cancelled from a thread that is not its
// own, at any moment of its life, before its first delivery too; and from then on nobody may call it. Of a driver that
// can forget a site, the threads they are called on come and go as well.
//
// What was found has a lock; everything else belongs to the thread that churns until `end` has joined it, and to the conducting
// thread afterwards.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The observers that come and go in one trial. The conducting thread.
///
/// Unchecked because two threads have it, one after the other.
final class Churn: Companion, @unchecked Sendable {
    /// Between two changes, on average, whatever the number of observers.
    private static let pauseNs = 4_000_000
    /// Observers that a thread sees before another takes its place.
    private static let livesOfASite = 8

    private final class Slot {
        var site: DeliveryContext
        var lives = 0
        var observer: ChurnedObserver?
        var subscription: (any DriverSubscription)?

        init(_ site: DeliveryContext) { self.site = site }
    }

    private let spec: TrialSpec
    private let query: Query
    private let store: any DrivenStore
    /// The store where its sites may end.
    private let forgetting: (any SiteForgetting)?
    private let slots: [Slot]
    private let isOver = Atomic<Bool>(false)
    private let found = ChurnFindings("churn findings", [])
    private var thread: TracedThread?
    private var fault: (any Error)?
    /// Observers that there were.
    private var made = 0

    /// Nil where a trial has none; else the first of them are there.
    init?(_ setup: TrialSetup) throws {
        (spec, store) = (setup.spec, setup.store)
        guard let count = spec.observers.churn, count > 0, let query = setup.plan.queries.first else { return nil }
        self.query = query
        forgetting = store as? any SiteForgetting
        try ObserverGroup.checkOpenFiles(threads: count, spec)
        slots = (0..<count).map { Slot(DeliveryContext("churn-\($0)", setup.spec.observers.deliver)) }
        for slot in slots { try replace(slot) }
    }

    func begin(_ window: Window) { thread = TracedThread("churn") { [self] in run() } }

    private func run() {
        var random = RandomSource(seed: spec.seed, stream: 6_000_000)
        do {
            while !isOver.load(ordering: .acquiring) {
                for slot in slots {
                    try replace(slot)
                    Pacing.sleep(untilNs: MonotonicClock.nowNs() + Int64(random.below(2 * Self.pauseNs)))
                }
            }
        } catch {
            fault = error
        }
    }

    private func replace(_ slot: Slot) throws {
        cancel(slot)
        if slot.lives == Self.livesOfASite, forgetting != nil {
            try end(slot)
            slot.site = DeliveryContext(slot.site.name, spec.observers.deliver)
            slot.lives = 0
        }
        slot.lives += 1
        let observer = ChurnedObserver("churned observer \(made)", found)
        made += 1
        slot.observer = observer
        slot.subscription = try slot.site.run(timeoutNs: spec.hangTimeoutNs) { [store, query, site = slot.site] in
            try store.subscribe(to: query, at: site.deliverySite, sink: observer)
        }
    }

    private func cancel(_ slot: Slot) {
        guard let observer = slot.observer, let subscription = slot.subscription else { return }
        subscription.cancel()
        slot.observer = nil
        slot.subscription = nil
        // A delivery may have begun before and not have come to the observer yet. Calls of a site are serial, so what comes
        // to it after this block has begun afterwards. The subscription goes with the block, where it belongs.
        slot.site.perform { withExtendedLifetime(subscription) { observer.end() } }
    }

    private func end(_ slot: Slot) throws {
        try slot.site.run(timeoutNs: spec.hangTimeoutNs) { [forgetting, site = slot.site] in
            try forgetting?.forget(site.deliverySite)
        }
        slot.site.stop()
    }

    /// When the load is over: nobody comes or goes any more.
    func end(into findings: inout Findings) throws {
        isOver.store(true, ordering: .releasing)
        thread?.join()
        thread = nil
        if let fault { throw fault }
        // What went is gone.
        for slot in slots { try slot.site.run(timeoutNs: spec.hangTimeoutNs) {} }
        findings.counts["churned_observers"] = made
    }

    /// Those who are there are called once at least, and then cancelled.
    func cancel() throws {
        var deadline = HangDeadline(timeoutNs: spec.hangTimeoutNs)
        while let slot = slots.first(where: { $0.observer?.isCalled == false }) {
            if deadline.hasPassed() {
                found.withLock { $0.append("convergence: \(slot.observer!.name) has had no initial delivery") }
                break
            }
            Pacing.sleep(untilNs: MonotonicClock.nowNs() + 1_000_000)
        }
        for slot in slots { cancel(slot) }
    }

    /// When another commit has been made that concerns them all: ends their sites, and says what was wrong with any of them.
    func close(into findings: inout Findings) throws {
        for slot in slots {
            try slot.site.run(timeoutNs: spec.hangTimeoutNs) {}
            slot.site.stop()
        }
        findings.violations += found.withLock { $0 }
    }
}
