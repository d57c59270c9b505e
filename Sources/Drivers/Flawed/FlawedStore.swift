// A flawed store: a version, a write lock, a registry of observers, and its one flaw at the place where it occurs.
//
// `writeLock` serialises writers. `registry` guards `subscriptions` and `sites`. No other lock is taken
// under the lock of `counters`. Only a flaw calls observers, or waits for another thread, under the first two.
import StillingWellSync
import TidegaugeDriver

public final class FlawedStore: RowlessStore, CallableOnSite, TransactionalReading, AsynchronousWriting {
    private struct Counters {
        var version: Int64 = 1
        var answers = 0
        var isClosed = false
    }

    private static let readers = 2
    private static let workers = 1

    let flaw: Flaw
    private let writeLock: any FlawedLock
    private let registry: any FlawedLock
    private let counters = Guarded("flawed store counters", Counters())
    private let answered: TracedCondition
    private let readerPool = PermitPool("reader pool", FlawedStore.readers)
    private let workerPool = PermitPool("worker pool", FlawedStore.workers)
    // Guarded by `registry`, which may be a `ForeignLock`, so that no lock can own them.
    nonisolated(unsafe) private var subscriptions: [FlawedSubscription] = []
    nonisolated(unsafe) private var sites: [ObjectIdentifier: FlawedSite] = [:]

    init(_ flaw: Flaw) {
        self.flaw = flaw
        let isForeign = flaw == .foreignLocks
        writeLock = isForeign ? ForeignLock() : NamedLock("flawed write lock")
        registry = isForeign ? ForeignLock() : NamedLock("flawed registry")
        answered = TracedCondition("answers", counters)
    }

    private var head: Int64 { counters.withLock { $0.version } }

    public func load(count: Int, item: (Int) -> Item) { counters.withLock { $0.version += 1 } }
    public func makeWriter() -> any StoreWriter { CommittingWriter { [self] _, locked in commit(locked) } }
    public func fileBytes() -> Int { 0 }

    public func close() {
        counters.withLock { $0.isClosed = true }
        let ending = registry.with { Array(sites.values) }
        for site in ending { site.end() }
    }

    // MARK: Writing

    func commit(_ locked: () -> Void) -> Int64 {
        writeLock.lock()
        locked()
        let committed = counters.withLock {
            $0.version += 1
            return $0.version
        }
        switch flaw {
        case .callbackUnderLock: for subscription in registered { subscription.deliver(committed) }
        case .waitsForObservers:
            for subscription in registered { subscription.site.performAndWait { subscription.deliver(committed) } }
        case .lockOrder, .foreignLocks: registry.with { post(committed, subscriptions) }
        case .boundedMailbox:
            for subscription in registered {
                subscription.takeRoom()
                subscription.site.perform {
                    subscription.deliver(committed)
                    subscription.makeRoom()
                }
            }
        default: break
        }
        writeLock.unlock()
        switch flaw {
        case .calledUnderRegistry:
            for subscription in registered {
                subscription.site.perform { [self] in registry.with { subscription.deliver(committed) } }
            }
        case .workersStarve: for subscription in registered { deliverByWorker(subscription, committed) }
        case .syncOnOwnQueue:
            for subscription in registered { subscription.site.performAndWait { subscription.deliver(committed) } }
        case .callbackUnderLock, .waitsForObservers, .lockOrder, .foreignLocks, .boundedMailbox: break
        default: post(committed, registered)
        }
        return committed
    }

    private var registered: [FlawedSubscription] { registry.with { subscriptions } }

    private func post(_ version: Int64, _ subscriptions: [FlawedSubscription]) {
        for subscription in subscriptions { subscription.site.perform { subscription.deliver(version) } }
    }

    /// Uses a worker until the delivery context has called the observer.
    private func deliverByWorker(_ subscription: FlawedSubscription, _ version: Int64) {
        TracedThread("worker") { [self] in
            workerPool.with { subscription.site.performAndWait { subscription.deliver(version) } }
        }.detach()
    }

    /// Holds the write lock until the delivery context has run the write, whatever the flaw of the store is.
    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) {
        let place = flawedSite(site)
        writeLock.lock()
        place.perform { [self] in
            within()
            counters.withLock { $0.version += 1 }
            writeLock.unlock()
        }
    }

    // MARK: Observing

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        let place = flawedSite(site)
        let subscription = FlawedSubscription(self, place, sink)
        switch flaw {
        case .callbackUnderLock:
            registry.with { subscriptions.append(subscription) }
            writeLock.with { subscription.deliver(head, isInitial: true) }
        case .lockOrder, .foreignLocks:
            let seen = registry.with {
                subscriptions.append(subscription)
                return writeLock.with { head }
            }
            place.perform { subscription.deliver(seen, isInitial: true) }
        default:
            registry.with { subscriptions.append(subscription) }
            let seen = head
            place.perform { subscription.deliver(seen, isInitial: true) }
        }
        return subscription
    }

    private func flawedSite(_ site: DeliverySite) -> FlawedSite {
        if let known = registry.with({ sites[site.identity] }) { return known }
        let new = FlawedSite(site)
        registry.with { sites[new.identity] = new }
        return new
    }

    func drop(_ subscription: FlawedSubscription) {
        registry.with { subscriptions.removeAll { $0 === subscription } }
        if flaw == .cancelWaits { subscription.awaitIdle() }
    }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) {
        switch call {
        case .beginWrite: writeLock.with { granted() }
        case .refresh:
            if flaw == .refreshWaitsForTurn { flawedSite(site).performAndWait {} }
            if flaw == .answersCounted || flaw == .closeForgetsRefresh { awaitAnswers() }
            granted()
        }
    }

    /// Waits for one answer from a separate thread per subscription. A subscription does not answer if it was
    /// dropped, or, for `closeForgetsRefresh`, if the store was closed.
    private func awaitAnswers() {
        let asked = registered
        counters.withLock { $0.answers = 0 }
        for subscription in asked {
            TracedThread("answer") { [self] in
                writeLock.with {}
                let isThere = registry.with { subscriptions.contains { $0 === subscription } }
                guard isThere else { return }
                counters.withLock {
                    if flaw == .closeForgetsRefresh, $0.isClosed { return }
                    $0.answers += 1
                    answered.broadcast()
                }
            }.detach()
        }
        counters.wait(for: answered) { $0.answers >= asked.count }
    }

    // MARK: Reading

    public func read(_ body: () throws -> Void) throws {
        switch flaw {
        case .readerPool: try readerPool.with(body)
        case .workersStarve: try workerPool.with(body)
        default: try body()
        }
    }
}
