// What keeps the queries of a process true: a thread that asks all of them when it is time, or when it was notified (WatchRounds.swift),
// or is sent every change (StreamRounds.swift), and gives each site the rows that have changed. What others ask of it stands in
// `orders`.
import StillingWellSync
import TidegaugeDriver

/// Made and closed by who has the store; any thread subscribes.
final class PostgresWatcher: Sendable {
    private struct Orders {
        var new: [WatchedQuery] = []
        var isOver = false
    }

    private let orders: Guarded<Orders>
    private let sites = SiteMap<PostgresSite>("postgres driver")
    private let bell: Bell
    private let thread: TracedThread

    /// - Parameter rounds: connected, so that what is committed from here on is heard of; the thread's own from here on.
    init(_ rounds: any WatcherRounds, _ bell: Bell) {
        let orders = Guarded("postgres watcher", Orders())
        (self.orders, self.bell) = (orders, bell)
        // As the parameter says.
        nonisolated(unsafe) let rounds = rounds
        thread = TracedThread("pg-watch") {
            rounds.run {
                orders.withLock { orders in
                    defer { orders.new = [] }
                    return orders.isOver ? nil : orders.new
                }
            }
        }
    }

    /// On the site.
    func subscribe(to query: Query, at site: DeliverySite, _ sink: any DeliverySink) -> WatchedQuery {
        let place = sites.value(at: site) { PostgresSite(site) }
        let watched = WatchedQuery(query, place, sink)
        orders.withLock { $0.new.append(watched) }
        bell.ring()
        return watched
    }

    /// No delivery starts after it returns.
    func close() {
        orders.withLock { $0.isOver = true }
        bell.ring()
        thread.join()
        for site in sites.removeAll() { site.end() }
    }
}

/// What a watcher does, over and over. Its thread's own.
protocol WatcherRounds: AnyObject {
    /// - Parameter orders: the queries that are new; nil: it is over.
    func run(_ orders: () -> [WatchedQuery]?)
}

/// How long a server may be gone that was there: each who has lost it asks again and again. One thread.
struct Patience {
    static let retryEveryMs: Int32 = 10
    private static let longestNs: Int64 = 30_000_000_000

    private var lostNs: Int64?

    /// Whether there is hope yet.
    mutating func goesOn(_ nowNs: Int64) -> Bool {
        if lostNs == nil { lostNs = nowNs }
        return nowNs - (lostNs ?? nowNs) < Self.longestNs
    }

    mutating func found() { lostNs = nil }
}

extension WatcherRounds {
    /// Fails whoever comes now, until it is over.
    func refuse(_ orders: () -> [WatchedQuery]?, _ bell: Bell, _ error: any Error) {
        while let new = orders() {
            for one in new { one.fail(error) }
            bell.wait(orFor: -1, timeoutMs: -1)
        }
    }
}
