// An observing site: what the watcher has fetched for it and nobody was shown yet, and the queries that are shown there.
//
// The watcher's thread posts; everything else but `end` runs on the site.
import StoreDriver
import TracedSync

final class PostgresSite: Sendable {
    private struct Mail {
        var rows: [Item]
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

    /// - Parameter isRound: all queries of the site were fetched: what is not among these has the same rows as before, and
    ///   stands where these do.
    func post(_ fetched: [(WatchedQuery, [Item])], _ token: Int64, isRound: Bool) {
        let isNews = mail.withLock { mail in
            if isRound { for key in mail.keys { mail[key]?.token = token } }
            for (watched, rows) in fetched { mail[ObjectIdentifier(watched)] = Mail(rows: rows, token: token) }
            return !fetched.isEmpty
        }
        if isNews { observers?.raise() }
    }

    /// Any thread. No delivery starts after it.
    func end() { observers?.end() }

    private func show(_ all: [WatchedQuery]) {
        let news = mail.replace(with: [:])
        for watched in all {
            if let mail = news[ObjectIdentifier(watched)] { watched.show(mail.rows, mail.token) }
        }
    }
}

final class WatchedQuery: PullingSubscription {
    let query: Query
    let site: PostgresSite
    private let sink: CancellableSink
    /// The site's own.
    nonisolated(unsafe) private var shown: [Item]?

    /// On the site.
    init(_ query: Query, _ site: PostgresSite, _ sink: any DeliverySink) {
        (self.query, self.site, self.sink) = (query, site, CancellableSink(sink))
        site.add(self)
    }

    fileprivate func show(_ rows: [Item], _ token: Int64) {
        let isInitial = shown == nil
        shown = rows
        sink.deliver(Delivery(version: token, isInitial: isInitial, count: rows.count))
    }

    func fail(_ error: any Error) { sink.fail(error) }

    func cancel() { sink.cancel() }

    var isCancelled: Bool { sink.isCancelled }

    func currentItems() -> [Item] { shown ?? [] }

    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        guard let shown else { return }
        for item in shown[indices.clamped(to: 0..<shown.count)] { body(item) }
    }
}
