// Pending deliveries for one delivery context, and the signal that wakes it. Commits raise the signal at most once
// until the context has taken the deliveries.
import TidegaugeDriver

/// The delivering side of a no-op store for one delivery context.
///
/// Unchecked because the store's lock guards the inbox, and all other state is set once or used on the delivery context
/// only.
final class NoopConnection: @unchecked Sendable {
    var inbox = NoopInbox()
    // Weak, because the store owns the connection.
    private weak var store: NoopStore?
    private var signal: SiteSignal?
    /// The current deliveries; kept to reuse their memory. Used on the delivery context.
    private var pending = NoopInbox.Pending()
    /// Subscribers by number of the query.
    private var subscribers: [[NoopSubscription]] = []

    /// On the delivery context.
    init(_ store: NoopStore, _ site: DeliverySite) {
        self.store = store
        signal = SiteSignal(site, "no-op delivery") { [weak self] in self?.deliver() }
    }

    /// Any thread.
    func wake() { signal?.raise() }

    /// Any thread.
    func end() { signal?.invalidate() }

    private func deliver() {
        guard let version = store?.take(self, &pending) else { return }
        for query in pending.queries where query < subscribers.count {
            for subscription in subscribers[query] { subscription.deliver(version, isInitial: false) }
        }
        for (subscription, query) in pending.admitted {
            while subscribers.count <= query { subscribers.append([]) }
            subscribers[query].append(subscription)
            subscription.deliver(version, isInitial: true)
        }
    }
}

/// Deliveries that a delivery context has not made yet.
struct NoopInbox {
    struct Pending {
        var queries: [Int] = []
        var admitted: [(NoopSubscription, query: Int)] = []
    }

    private var pending = Pending()
    /// For each query, whether it is in `pending.queries`.
    private var isPosted: [Bool] = []
    private var isRaised = false

    /// Records that a query's rows have changed.
    /// - Returns: whether the delivery context must be woken.
    mutating func post(_ query: Int) -> Bool {
        while isPosted.count <= query { isPosted.append(false) }
        guard !isPosted[query] else { return false }
        isPosted[query] = true
        pending.queries.append(query)
        defer { isRaised = true }
        return !isRaised
    }

    mutating func admit(_ subscription: NoopSubscription, query: Int) {
        pending.admitted.append((subscription, query))
        isRaised = true
    }

    /// Swaps the pending deliveries with `taken`, whose memory is reused.
    mutating func take(_ taken: inout Pending) {
        for query in pending.queries { isPosted[query] = false }
        isRaised = false
        taken.queries.removeAll(keepingCapacity: true)
        taken.admitted.removeAll(keepingCapacity: true)
        swap(&pending, &taken)
    }
}

final class NoopSubscription: DriverSubscription {
    private let sink: CancellableSink

    init(_ sink: any DeliverySink) { self.sink = CancellableSink(sink) }

    func deliver(_ version: Int64, isInitial: Bool) {
        sink.deliver(Delivery(version: version, isInitial: isInitial, count: 0))
    }

    func cancel() { sink.cancel() }

    func currentItems() throws -> [Item] { throw StoreHasNoRows() }
}
