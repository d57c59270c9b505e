// An observing site: what the watcher has for it and nobody was shown yet, and the queries that are shown there.
//
// The watcher's thread posts; everything else but `end` runs on the site.
import StillingWellSync
import StillingWellTree
import TidegaugeDriver

final class PostgresSite: Sendable {
    private struct Mail {
        var rows: QueryRows
        /// Of the snapshot that they stand at.
        var token: Int64
    }

    private let mail = Guarded<[ObjectIdentifier: Mail]>("postgres site", [:])
    /// Set by `init`, before anybody else has the object.
    nonisolated(unsafe) private var observers: PullingSite<WatchedQuery>?

    init(_ site: DeliverySite) {
        observers = PullingSite(site, "postgres delivery") { [weak self] in self?.show($0) }
    }

    /// On the site.
    func add(_ watched: WatchedQuery) { observers?.add(watched) }

    /// - Parameter isRound: all queries of the site were looked at: what is not among these has the same rows as before, and
    ///   stands where these do.
    func post(_ news: [(WatchedQuery, QueryRows)], _ token: Int64, isRound: Bool) {
        let isNews = mail.withLock { mail in
            if isRound { for key in mail.keys { mail[key]?.token = token } }
            for (watched, rows) in news { mail[ObjectIdentifier(watched)] = Mail(rows: rows, token: token) }
            return !news.isEmpty
        }
        if isNews { observers?.raise() }
    }

    /// Any thread. No delivery starts after it.
    func end() { observers?.end() }

    private func show(_ all: [WatchedQuery]) {
        let news = mail.replace(with: [:])
        var differences = ViewDifferences()
        for watched in all {
            if let mail = news[ObjectIdentifier(watched)] { watched.show(mail.rows, mail.token, &differences) }
        }
    }
}

/// The rows of a query, as its process came by them. A value.
enum QueryRows: Sendable {
    /// Asked for, all of them.
    case fetched([Item])
    /// Kept, change by change.
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

/// Of one turn of a site: those who show the same, and go to the same, are told the same. The site's own.
struct ViewDifferences {
    private var made: [ObjectIdentifier: (old: OrderedView, new: OrderedView, changes: ChangeSet)] = [:]

    mutating func changes(from old: OrderedView, to new: OrderedView) -> ChangeSet {
        let place = ObjectIdentifier(new.tree.root)
        if let known = made[place], known.old.tree.isIdentical(to: old.tree) { return known.changes }
        let changes = new.changes(since: old)
        // The trees are held, so that no other has the place of one meanwhile.
        made[place] = (old, new, changes)
        return changes
    }
}

final class WatchedQuery: PullingSubscription {
    let query: Query
    let site: PostgresSite
    private let sink: CancellableSink
    /// The site's own.
    nonisolated(unsafe) private var shown: QueryRows?

    /// On the site.
    init(_ query: Query, _ site: PostgresSite, _ sink: any DeliverySink) {
        (self.query, self.site, self.sink) = (query, site, CancellableSink(sink))
        site.add(self)
    }

    /// Rows that are kept tell what has changed; where nothing has, nobody is called.
    fileprivate func show(_ rows: QueryRows, _ token: Int64, _ differences: inout ViewDifferences) {
        var delivery = Delivery(version: token, isInitial: shown == nil, count: rows.count)
        if case .kept(let old) = shown, case .kept(let new) = rows {
            let changes = differences.changes(from: old, to: new)
            guard !changes.isEmpty else { return }
            (delivery.deletions, delivery.insertions) = (changes.deletions, changes.insertions)
            (delivery.modifications, delivery.moveCount) = (changes.modificationsNew, changes.moves.count)
        }
        shown = rows
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

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) { shown?.forEach(indices, body) }
}
