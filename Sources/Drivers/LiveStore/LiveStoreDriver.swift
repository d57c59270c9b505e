// LiveStore seen from the harness. One store, one connection per delivery site, one `Results` per subscription.
import Foundation
import LiveStore
import StoreDriver

public struct LiveStoreDriver: StoreDriver {
    public let name = "livestore"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.full, .relaxed, .memory], persists: true, hasChangeSets: true) {
            $0.keyKinds = Set(KeyKind.allCases)
            $0.hasLists = true
            $0.deepestLinks = HeadRow.deepest
            $0.hasPublishers = true
            $0.canReadFirst = true
            $0.isShared = true
            $0.upkeepThreadPrefixes = ["livestore"]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> DrivenLiveStore {
        let rows = try rows(configuration)
        return DrivenLiveStore(try configuration.open(rows.models), rows, configuration)
    }

    private func rows(_ configuration: StoreConfiguration) throws -> any DrivenRows {
        if configuration.links > 0 {
            return RowsOf<ItemRow, HeadRow>(.chained(configuration.links), and: [HeadRow.self, LinkRow.self])
        }
        if configuration.hasList {
            switch configuration.keys {
            case .ascending: return RowsOf<ItemRow, ItemRow>(.listed, and: [RowList.self])
            case .uuid: throw DriverUnavailable("the driver keeps rows with ascending keys in a list, and no others")
            }
        }
        return switch configuration.keys {
        case .ascending: RowsOf<ItemRow, ItemRow>()
        case .uuid: RowsOf<UUIDItemRow, UUIDItemRow>()
        }
    }
}

extension StoreConfiguration {
    package func open(_ models: [StoredObject.Type]) throws -> Store {
        // Durabilities have the same names on both sides.
        try Store(.init(path: directory, models: models, durability: .init(rawValue: durability.rawValue)!))
    }
}

extension DeliverySite {
    package func connect(to store: Store) throws -> Connection {
        switch self {
        case .runLoop: try store.connect(on: .runLoop)
        case .queue(let queue): try store.connect(on: .queue(queue))
        }
    }
}

/// One store, whose rows are of the class that its configuration asks for.
public final class DrivenLiveStore: CallableOnSite, TransactionalReading, AsynchronousWriting, Pinning, Compacting,
    SiteForgetting
{
    /// Objects per transaction while loading: small enough for the log to list, large enough to cost nothing.
    private static var loadBatch: Int { 50_000 }

    private let store: Store
    private let rows: any DrivenRows
    private let configuration: StoreConfiguration
    /// So that all observers of a site share one, as an application's would.
    private let connections = SiteMap<Connection>("driver connections")

    init(_ store: Store, _ rows: any DrivenRows, _ configuration: StoreConfiguration) {
        self.store = store
        self.rows = rows
        self.configuration = configuration
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        let writer = rows.makeWriter(store)
        for start in stride(from: 0, to: count, by: Self.loadBatch) {
            try store.write { connection in
                for index in start..<min(count, start + Self.loadBatch) {
                    try writer.apply(Change(.insert, item(index)), connection)
                }
            }
        }
    }

    public func makeWriter() throws -> any StoreWriter { rows.makeWriter(store) }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        let connection = try connection(at: site)
        if query.order == .list { return try LiveStoreListSubscription(RowList.rows(connection), connection, sink) }
        return try rows.subscribe(to: query, connection, configuration, sink)
    }

    public func forget(_ site: DeliverySite) { _ = connections.remove(site) }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        let connection = try connection(at: site)
        switch call {
        case .beginWrite:
            try connection.beginWrite()
            granted()
            try connection.cancelWrite()
        case .refresh:
            try connection.refresh()
            granted()
        }
    }

    public func read(_ body: () throws -> Void) throws { try store.read { _ in try body() } }

    public func writeLater(_ changes: [Change], at site: DeliverySite, within: @escaping @Sendable () -> Void) throws {
        let rows = rows
        store.writeAsync({ connection in
            within()
            let writer = rows.makeWriter(connection.store)
            for change in changes { try writer.apply(change, connection) }
        }) { _ in }
    }

    private func connection(at site: DeliverySite) throws -> Connection {
        try connections.value(at: site) { try site.connect(to: store) }
    }

    public func contents(of query: Query) throws -> [Item] {
        try store.read { connection in
            if query.order == .list { return try RowList.rows(connection).map(\.item) }
            return try rows.contents(of: query, connection)
        }
    }

    public func compactedBytes() throws -> Int {
        // Beside the store, in the trial's own folder: on the same file system, and where nobody else can be.
        let folder = URL(fileURLWithPath: configuration.directory).appendingPathComponent(
            "compact-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try store.compact(to: folder.path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try files.reduce(0) { sum, file in
            let path = folder.appendingPathComponent(file).path
            // Pages in use, as `fileBytes` counts them: a file may have holes.
            var status = stat()
            guard stat(path, &status) == 0 else { throw DriverUnavailable("the compacted store cannot be read") }
            return sum + Int(status.st_blocks) * 512
        }
    }

    public func activeVersions() throws -> Int { store.activeVersions }

    public func pin() throws -> AnyObject { try rows.pin(store) }

    public func fileBytes() throws -> Int { store.fileBytes }

    public func close() throws {
        store.close()
        _ = connections.removeAll()
    }
}
