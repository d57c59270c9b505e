// A delivery context: its queries, and the rows from the watcher that they have not shown yet.
//
// The watcher's thread posts rows, and reports failures to the sinks itself. The delivery context shows the rows.
import StillingWellSync
import TidegaugeDriver

final class PostgresSite: Sendable {
    private struct Mail {
        var rows: QueryRows
        /// Token of the state of the rows.
        var token: Int64
    }

    private let mail = Guarded<[ObjectIdentifier: Mail]>("postgres site", [:])
    private let observers = SetOnce<PullingSite<WatchedQuery>>()

    init(_ site: DeliverySite) {
        observers.set(PullingSite(site, "postgres delivery") { [weak self] in self?.show($0) })
    }

    /// On the delivery context.
    func add(_ watched: WatchedQuery) { observers.known?.add(watched) }

    /// - Parameter isRound: whether all queries of the delivery context were evaluated. Queries that are not in `news`
    ///   then have the same rows as before, at the new token.
    func post(_ news: [(WatchedQuery, QueryRows)], _ token: Int64, isRound: Bool) {
        let isNews = mail.withLock { mail in
            if isRound { for key in mail.keys { mail[key]?.token = token } }
            for (watched, rows) in news { mail[ObjectIdentifier(watched)] = Mail(rows: rows, token: token) }
            return !news.isEmpty
        }
        if isNews { observers.known?.raise() }
    }

    /// Any thread.
    func end() { observers.known?.end() }

    private func show(_ all: [WatchedQuery]) {
        let news = mail.replace(with: [:])
        var differences = ViewDifferences()
        for watched in all {
            if let mail = news[ObjectIdentifier(watched)] { watched.show(mail.rows, mail.token, &differences) }
        }
    }
}

/// The rows of a query, either fetched or maintained.
enum QueryRows: Sendable {
    /// All rows, fetched by a query.
    case fetched([Item])
    /// Rows that are maintained from individual changes.
    case kept(OrderedView)

    var count: Int {
        switch self {
        case .fetched(let items): items.count
        case .kept(let view): view.count
        }
    }

    func forEach(_ indices: Range<Int>, _ body: (Item) -> Void) {
        switch self {
        case .fetched(let items): for item in items[indices.clamped(to: 0..<items.count)] { body(item) }
        case .kept(let view): view.forEach(indices, body)
        }
    }
}

/// Caches change sets during one delivery of a delivery context. Subscriptions whose rows have the same old and new
/// state can share one. Used on the context.
struct ViewDifferences {
    private var made: [ObjectIdentifier: (old: OrderedView, new: OrderedView, changes: OrderedView.Changes)] = [:]

    mutating func changes(from old: OrderedView, to new: OrderedView) -> OrderedView.Changes {
        if let known = made[new.stateID], known.old.stateID == old.stateID { return known.changes }
        let changes = new.changes(since: old)
        // The views are retained, so no other state can get the same identity meanwhile.
        made[new.stateID] = (old, new, changes)
        return changes
    }
}

final class WatchedQuery: PullingSubscription {
    let query: Query
    let site: PostgresSite
    private let sink: CancellableSink
    private let shown = DeliveryBound<QueryRows?>(nil)

    /// On the delivery context.
    init(_ query: Query, _ site: PostgresSite, _ sink: any DeliverySink) {
        (self.query, self.site, self.sink) = (query, site, CancellableSink(sink))
        site.add(self)
    }

    /// Maintained rows have a change set after the first delivery; the sink is not called if it is empty.
    fileprivate func show(_ rows: QueryRows, _ token: Int64, _ differences: inout ViewDifferences) {
        var delivery = Delivery(version: token, isInitial: shown.value == nil, count: rows.count)
        if case .kept(let old) = shown.value, case .kept(let new) = rows {
            let changes = differences.changes(from: old, to: new)
            guard !changes.isEmpty else { return }
            (delivery.deletions, delivery.insertions) = (changes.deletions, changes.insertions)
            (delivery.modifications, delivery.moveCount) = (changes.modifications, changes.moveCount)
        }
        shown.value = rows
        sink.deliver(delivery)
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func cancel() { sink.cancel() }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] {
        var items: [Item] = []
        forEachShown(0..<Int.max) { items.append($0) }
        return items
    }

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) { shown.value?.forEach(indices, body) }
}
