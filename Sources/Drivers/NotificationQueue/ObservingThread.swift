// A thread with a run loop and its notification queue. The queue can be used only on its own thread, so a commit
// posts to an inbox and wakes the run loop, which enqueues the notifications.
import StillingWellSync
import TidegaugeDriver

final class ObservingThread: Sendable {
    private let announcer: DeliveryBound<any Announcer>
    private let observers = SetOnce<PullingSite<NotifiedSubscription>>()
    /// Affected queries. A query is listed once for each commit that affected it.
    private let inbox = Guarded<[Int]>("notification inbox", [])

    /// Call it on the thread.
    init(_ site: DeliverySite, _ announcer: any Announcer) {
        self.announcer = DeliveryBound(here: announcer)
        // The notification queue calls the observers, so the list that the site passes is ignored.
        observers.set(PullingSite(site, "notification queue") { [weak self] _ in self?.drain() })
    }

    /// Any thread.
    func post(_ query: Int) {
        inbox.withLock { $0.append(query) }
        observers.known?.raise()
    }

    /// Call it on the thread. The first notification has been enqueued when it returns.
    func add(_ subscription: NotifiedSubscription, _ query: Int) {
        subscription.keep(announcer.value.observe(query) { subscription.arrived() })
        observers.known?.add(subscription)
        announcer.value.announce(query)
    }

    private func drain() { for query in inbox.replace(with: []) { announcer.value.announce(query) } }

    /// Any thread.
    func end() { observers.known?.end() }
}

final class NotifiedSubscription: PullingSubscription {
    private let store: NotifyingStore
    private let query: Query
    private let sink: CancellableSink
    /// Closure that ends the notifications; nil after cancellation.
    private let registration = Guarded<(@Sendable () -> Void)?>("notification registration", nil)
    private let isInitial = DeliveryBound(true)

    init(_ store: NotifyingStore, _ query: Query, _ sink: any DeliverySink) {
        (self.store, self.query) = (store, query)
        self.sink = CancellableSink(sink)
    }

    func keep(_ end: @escaping @Sendable () -> Void) { registration.withLock { $0 = end } }

    func arrived() {
        defer { isInitial.value = false }
        sink.deliver(Delivery(version: store.head, isInitial: isInitial.value, count: 0))
    }

    func cancel() {
        sink.cancel()
        let ending = registration.withLock { $0.take() }
        ending?()
    }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { store.contents(of: query) }
}
