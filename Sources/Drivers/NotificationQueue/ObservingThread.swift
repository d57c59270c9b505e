// A thread with a run loop, its notification queue, and the way there from other threads: a queue takes notifications on
// its own thread alone, so a commit leaves a note and wakes the run loop, which enqueues them.
//
// `inbox` is guarded by `lock`; the announcer belongs to the thread.
import StoreDriver
import TracedSync

final class ObservingThread: @unchecked Sendable {
    private let announcer: any Announcer
    private var observers: PullingSite<NotifiedSubscription>?
    private let lock = TracedMutex("notification inbox")
    /// Queries, once for each commit that concerned them.
    private var inbox: [Int] = []

    /// On the thread.
    init(_ site: DeliverySite, _ announcer: any Announcer) {
        self.announcer = announcer
        // Who is told is the queue's business.
        observers = PullingSite(site, "notification queue") { [weak self] _ in self?.drain() }
    }

    /// Any thread.
    func post(_ query: Int) {
        lock.withLock { inbox.append(query) }
        observers?.raise()
    }

    /// On the thread. The first notification is on its way when it returns.
    func add(_ subscription: NotifiedSubscription, _ query: Int) {
        subscription.keep(announcer.observe(query) { subscription.arrived() })
        observers?.add(subscription)
        announcer.announce(query)
    }

    private func drain() {
        let posts = lock.withLock {
            defer { inbox = [] }
            return inbox
        }
        for query in posts { announcer.announce(query) }
    }

    /// Any thread.
    func end() { observers?.end() }
}

/// One observer of one query; `isInitial` belongs to the site, `registration` is guarded by `lock`.
final class NotifiedSubscription: PullingSubscription, @unchecked Sendable {
    private let store: NotifyingStore
    private let query: Query
    private let sink: CancellableSink
    private let lock = TracedMutex("notification registration")
    /// What ends it.
    private var registration: (() -> Void)?
    private var isInitial = true

    init(_ store: NotifyingStore, _ query: Query, _ sink: any DeliverySink) {
        self.store = store
        self.query = query
        self.sink = CancellableSink(sink)
    }

    func keep(_ end: @escaping () -> Void) { lock.withLock { registration = end } }

    func arrived() {
        defer { isInitial = false }
        sink.deliver(Delivery(version: store.head, isInitial: isInitial, count: 0))
    }

    func cancel() {
        sink.cancel()
        let ending = lock.withLock {
            defer { registration = nil }
            return registration
        }
        ending?()
    }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { store.contents(of: query) }
}
