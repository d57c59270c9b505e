// A store whose commits are all logged, and one connection of it per site. How subscriptions hear of commits is who opens
// it says.
//
// Whatever is taken out of `subscriptions` is used on its site.
import FetchedResults
import LiveStore
import LiveStoreDriver
import StoreDriver
import TracedSync

/// What a site refreshes with its connection.
package protocol ControlledObserver: DriverSubscription {
    /// Whether it is of that connection, and so of its site.
    func isOf(_ connection: Connection) -> Bool
    /// Tells of everything committed so far before it returns. On the site.
    func refresh() throws
}

public final class ControlledStore: CallableOnSite, TransactionalReading, AsynchronousWriting {
    /// Makes an observer of a query; on the site.
    package typealias Observe =
        @Sendable (Connection, Query, DeliverySite, any DeliverySink) throws -> any ControlledObserver

    private static let loadBatch = 50_000

    package let store: Store
    private let observe: Observe
    private let connections = SiteMap<Connection>("driver connections")
    private let subscriptions = Guarded<[WeakObserver]>("controlled subscriptions", [])

    private struct WeakObserver { weak var value: (any ControlledObserver)? }

    package init(_ configuration: StoreConfiguration, observe: @escaping Observe) throws {
        store = try configuration.open([ShownRow.self])
        self.observe = observe
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        for start in stride(from: 0, to: count, by: Self.loadBatch) {
            try store.write { connection in
                for index in start..<min(count, start + Self.loadBatch) { try connection.add(ShownRow(item(index))) }
            }
        }
    }

    public func makeWriter() -> any StoreWriter { LoggingWriter(store) }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        let subscription = try observe(try connection(at: site), query, site, sink)
        subscriptions.withLock {
            $0.removeAll { $0.value == nil }
            $0.append(WeakObserver(value: subscription))
        }
        return subscription
    }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        let connection = try connection(at: site)
        switch call {
        case .beginWrite:
            try connection.beginWrite()
            granted()
            try connection.cancelWrite()
        case .refresh:
            let mine = subscriptions.withLock { $0.compactMap(\.value) }.filter { $0.isOf(connection) }
            for subscription in mine { try subscription.refresh() }
            if mine.isEmpty { try connection.refresh() }
            granted()
        }
    }

    private func connection(at site: DeliverySite) throws -> Connection {
        try connections.value(at: site) { try site.connect(to: store) }
    }

    public func contents(of query: Query) throws -> [Item] {
        try store.read { ShownRow.results(query, try $0.objects(ShownRow.self)).map(\.item) }
    }

    public func fileBytes() throws -> Int { store.fileBytes }

    public func read(_ body: () throws -> Void) throws { try store.read { _ in try body() } }

    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        store.writeAsync({ connection in
            within()
            for change in changes { try LoggingWriter.apply(change, connection, nil) }
        }) { _ in }
    }

    public func close() throws {
        for subscription in subscriptions.withLock({ $0.compactMap(\.value) }) { subscription.cancel() }
        store.close()
        _ = connections.removeAll()
    }
}

/// Commits and has its changes told.
final class LoggingWriter: StoreWriter {
    private let store: Store

    init(_ store: Store) { self.store = store }

    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        try store.writeWithNotification { connection, logger in
            locked()
            for change in changes { try Self.apply(change, connection, logger) }
            return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
        }
    }

    static func apply(_ change: Change, _ connection: Connection, _ logger: ChangeLogger?) throws {
        if change.operation == .insert {
            let row = ShownRow(change.item)
            try connection.add(row)
            logger?.didAdd(row)
            return
        }
        guard let row = try connection.object(ShownRow.self, forPrimaryKey: Int(change.item.key)) else {
            throw MissingItem(key: change.item.key)
        }
        switch change.operation {
        case .insert: break
        case .updateScore:
            row.score = Int(change.item.score)
            row.stamp = Int(change.item.stamp)
            logger?.didChange(row)
        case .touch, .moveToFront:
            row.stamp = Int(change.item.stamp)
            logger?.didChange(row)
        case .delete:
            logger?.willDelete(row)
            try connection.delete(row)
        }
    }
}
