// The common part of the drivers of StillingWell and the libraries on top of it: one store, and one connection per
// delivery context, which all observers of the context share as in an application.
import StillingWell
import TidegaugeDriver

public protocol ConnectedStore: CallableOnSite, TransactionalReading, AsynchronousWriting {
    var store: Store { get }
    var connections: SiteMap<Connection> { get }
    /// Maximum number of rows per transaction while rows are loaded.
    var loadBatch: Int { get }
    /// Makes a change within a write of the connection.
    func apply(_ change: Change, _ connection: Connection) throws
    /// Moves the observers of a connection to the latest version. Call it on the connection's delivery context.
    func refresh(_ connection: Connection) throws
}

extension ConnectedStore {
    public var loadBatch: Int { 50_000 }

    public func load(count: Int, item: (Int) -> Item) throws {
        let batch = loadBatch
        for start in stride(from: 0, to: count, by: batch) {
            try store.write { connection in
                for index in start..<min(count, start + batch) { try apply(Change(.insert, item(index)), connection) }
            }
        }
    }

    public func connection(at site: DeliverySite) throws -> Connection {
        try connections.value(at: site) {
            switch site {
            case .runLoop: try store.connect(on: .runLoop)
            case .queue(let queue): try store.connect(on: .queue(queue))
            }
        }
    }

    public func refresh(_ connection: Connection) throws { try connection.refresh() }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        let connection = try connection(at: site)
        switch call {
        case .beginWrite:
            try connection.beginWrite()
            granted()
            try connection.cancelWrite()
        case .refresh:
            try refresh(connection)
            granted()
        }
    }

    public func read(_ body: () throws -> Void) throws { try store.read { _ in try body() } }

    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        store.queueWrite({ [self] connection in
            within()
            for change in changes { try apply(change, connection) }
        }) { _ in }
    }

    public func fileBytes() throws -> Int { store.fileBytes }

    public func close() throws {
        store.close()
        _ = connections.removeAll()
    }
}

extension StoreConfiguration {
    package func open(_ models: [StoredObject.Type]) throws -> Store {
        // Durability levels have the same raw values on both sides.
        var configuration = Store.Configuration(
            path: directory, models: models, durability: .init(rawValue: durability.rawValue)!)
        if let mapBytes { configuration.mapBytes = mapBytes }
        if isCounted { configuration.upkeepPollNs = nil }
        return try Store(configuration)
    }
}
