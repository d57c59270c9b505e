// A thread with a run loop, its NotificationQueue, and the way there from other threads: a NotificationQueue takes
// notifications on its own thread alone, so a commit leaves a note and wakes the run loop, which enqueues them.
//
// `inbox` and `subscriptions` are guarded by `lock`; `senders` and the queue belong to the thread.
import Foundation
import StoreDriver
import TracedSync

final class ObservingThread: @unchecked Sendable {
    private static let changed = Notification.Name("rows changed")

    private let center = NotificationCenter()
    private let queue: NotificationQueue
    private var signal: SiteSignal?
    private let lock = TracedMutex("notification inbox")
    /// Queries, once for each commit that concerned them.
    private var inbox: [Int] = []
    private var subscriptions: [NotifiedSubscription] = []
    /// By query. Coalescing tells senders apart by identity.
    private var senders: [Int: NSObject] = [:]

    /// On the thread.
    init(_ site: DeliverySite) {
        queue = NotificationQueue(notificationCenter: center)
        signal = SiteSignal(site, "notification queue") { [weak self] in self?.drain() }
    }

    /// Any thread.
    func post(_ query: Int) {
        lock.withLock { inbox.append(query) }
        signal?.raise()
    }

    /// On the thread. The first notification is on its way when it returns.
    func add(_ subscription: NotifiedSubscription, _ query: Int) {
        let sender = senders[query] ?? NSObject()
        senders[query] = sender
        let observer = center.addObserver(forName: Self.changed, object: sender, queue: nil) { _ in
            subscription.arrived()
        }
        subscription.observe(center, observer)
        lock.withLock {
            subscriptions.removeAll(where: \.isCancelled)
            subscriptions.append(subscription)
        }
        enqueue(query)
    }

    private func drain() {
        let posts = lock.withLock {
            defer { inbox = [] }
            return inbox
        }
        for query in posts { enqueue(query) }
    }

    private func enqueue(_ query: Int) {
        guard let sender = senders[query] else { return }
        queue.enqueue(
            Notification(name: Self.changed, object: sender), postingStyle: .asap,
            coalesceMask: [.onName, .onSender], forModes: nil)
    }

    /// Any thread.
    func end() {
        signal?.invalidate()
        let ending = lock.withLock {
            defer { subscriptions = [] }
            return subscriptions
        }
        for subscription in ending { subscription.cancel() }
    }
}

/// One observer of one query; `isInitial` belongs to the site, `registration` is guarded by `lock`.
final class NotifiedSubscription: Subscription, @unchecked Sendable {
    private let store: NotifyingStore
    private let query: Query
    private let sink: CancellableSink
    private let lock = TracedMutex("notification registration")
    private var registration: (center: NotificationCenter, observer: any NSObjectProtocol)?
    private var isInitial = true

    init(_ store: NotifyingStore, _ query: Query, _ sink: any DeliverySink) {
        self.store = store
        self.query = query
        self.sink = CancellableSink(sink)
    }

    func observe(_ center: NotificationCenter, _ observer: any NSObjectProtocol) {
        lock.withLock { registration = (center, observer) }
    }

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
        if let ending { ending.center.removeObserver(ending.observer) }
    }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { store.contents(of: query) }
}
