// Keeps the queries of a process up to date and gives each delivery context its changed rows. Its thread queries again
// after a time or a signal (WatchRounds.swift), or receives every change (StreamRounds.swift). It shares `orders` with
// other threads.
import StillingWellSync
import TidegaugeDriver

/// Made and closed by the store's owner.
final class PostgresWatcher: Sendable {
    private struct Orders {
        var new: [WatchedQuery] = []
        var isOver = false
    }

    private let orders: Guarded<Orders>
    private let sites = SiteMap<PostgresSite>("postgres driver")
    private let bell: Bell
    private let thread: TracedThread

    /// - Parameter rounds: used by the watcher's thread from here on.
    init(_ rounds: sending any WatcherRounds, _ bell: Bell) {
        let orders = Guarded("postgres watcher", Orders())
        (self.orders, self.bell) = (orders, bell)
        let rounds = DeliveryBound(rounds)
        thread = TracedThread("pg-watch") {
            rounds.value.run {
                orders.withLock { orders in
                    defer { orders.new = [] }
                    return orders.isOver ? nil : orders.new
                }
            }
        }
    }

    /// Called on the delivery context.
    func subscribe(to query: Query, at site: DeliverySite, _ sink: any DeliverySink) -> WatchedQuery {
        let place = sites.value(at: site) { PostgresSite(site) }
        let watched = WatchedQuery(query, place, sink)
        orders.withLock { $0.new.append(watched) }
        bell.ring()
        return watched
    }

    /// Ends the thread and cancels the queries.
    func close() {
        orders.withLock { $0.isOver = true }
        bell.ring()
        thread.join()
        for site in sites.removeAll() { site.end() }
    }
}

/// The work that a watcher repeats. Used on its thread.
protocol WatcherRounds: AnyObject {
    /// - Parameter orders: returns the new queries; nil when the watcher is closed.
    func run(_ orders: () -> [WatchedQuery]?)
}

/// Limits how long a watcher retries after the connection to a server was lost. Used by one thread.
struct Patience {
    static let retryEveryMs: Int32 = 10
    private static let longestNs: Int64 = 30_000_000_000

    private var lostNs: Int64?

    /// Whether to continue retrying.
    mutating func goesOn(_ nowNs: Int64) -> Bool {
        if lostNs == nil { lostNs = nowNs }
        return nowNs - (lostNs ?? nowNs) < Self.longestNs
    }

    mutating func found() { lostNs = nil }
}

extension WatcherRounds {
    /// Fails all new queries until the watcher is closed.
    func refuse(_ orders: () -> [WatchedQuery]?, _ bell: Bell, _ error: any Error) {
        while let new = orders() {
            for one in new { one.fail(error) }
            bell.wait(orFor: -1, timeoutMs: -1)
        }
    }
}
