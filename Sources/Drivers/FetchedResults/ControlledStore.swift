// A store whose writers' commits are logged, with one connection per delivery context. Its opener selects how
// subscriptions learn of the commits.
import FetchedResults
import StillingWell
import StillingWellSync
import TidegaugeDriver
import TidegaugeStillingWellDriver

/// An observer that a delivery context refreshes with its connection.
package protocol ControlledObserver: DriverSubscription {
    /// Whether the observer uses this connection, and so belongs to its delivery context.
    func isOf(_ connection: Connection) -> Bool
    /// Delivers everything committed so far before it returns. Call it on the delivery context.
    func refresh() throws
}

public final class ControlledStore: ConnectedStore {
    /// Makes an observer of a query. Called on the delivery context.
    package typealias Observe =
        @Sendable (Connection, Query, DeliverySite, any DeliverySink) throws -> any ControlledObserver

    public let store: Store
    public let connections = SiteMap<Connection>("driver connections")
    private let observe: Observe
    private let subscriptions = Guarded<[WeakObserver]>("controlled subscriptions", [])

    private struct WeakObserver { weak var value: (any ControlledObserver)? }

    package init(_ configuration: StoreConfiguration, observe: @escaping Observe) throws {
        store = try configuration.open([ShownRow.self])
        self.observe = observe
    }

    public func apply(_ change: Change, _ connection: Connection) throws { try ShownRow.apply(change, connection) }

    /// Returns a writer that logs its changes for notification.
    public func makeWriter() -> any StoreWriter {
        CommittingWriter { [store] changes, locked in
            try store.writeWithNotification { connection, logger in
                locked()
                for change in changes {
                    try ShownRow.apply(change, connection) { row in
                        switch change.operation {
                        case .insert: logger.didAdd(row)
                        case .updateScore, .touch, .moveToFront: logger.didChange(row)
                        case .delete: logger.willDelete(row)
                        }
                    }
                }
                return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
            }
        }
    }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        let subscription = try observe(try connection(at: site), query, site, sink)
        subscriptions.withLock {
            $0.removeAll { $0.value == nil }
            $0.append(WeakObserver(value: subscription))
        }
        return subscription
    }

    private var living: [any ControlledObserver] { subscriptions.withLock { $0.compactMap(\.value) } }

    public func refresh(_ connection: Connection) throws {
        let mine = living.filter { $0.isOf(connection) }
        for subscription in mine { try subscription.refresh() }
        if mine.isEmpty { try connection.refresh() }
    }

    public func contents(of query: Query) throws -> [Item] {
        try store.read { ShownRow.results(query, try $0.objects(ShownRow.self)).map(\.item) }
    }

    public func close() throws {
        for subscription in living { subscription.cancel() }
        store.close()
        _ = connections.removeAll()
    }
}
