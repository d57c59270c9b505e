// Driver of StillingWell: one store, one connection per delivery context, one `Results` or list per subscription.
import Foundation
import StillingWell
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [StillingWellDriver()]

public struct StillingWellDriver: StoreDriver {
    public let name = "stillingwell"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: [.full, .relaxed, .memory], persists: true, hasChangeSets: true) {
            $0.keyKinds = Set(KeyKind.allCases)
            $0.hasLists = true
            $0.deepestLinks = HeadRow.deepest
            $0.hasPublishers = true
            $0.canReadFirst = true
            $0.isShared = true
            $0.upkeepThreadPrefixes = ["well-"]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> DrivenStillingWell {
        let rows = try rows(configuration)
        return DrivenStillingWell(try configuration.open(rows.models), rows, configuration)
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
        if !configuration.rows.isPlain { return try ShapedRows(configuration.rows) }
        return switch configuration.keys {
        case .ascending: RowsOf<ItemRow, ItemRow>()
        case .uuid: RowsOf<UUIDItemRow, UUIDItemRow>()
        }
    }
}

/// One store. Its configuration determines the class of its rows.
public final class DrivenStillingWell: ConnectedStore, Pinning, Compacting, SiteForgetting, WholeRowStore,
    AnsweringStore
{
    public let store: Store
    public let connections = SiteMap<Connection>("driver connections")
    private let rows: any DrivenRows
    private let configuration: StoreConfiguration

    init(_ store: Store, _ rows: any DrivenRows, _ configuration: StoreConfiguration) {
        (self.store, self.rows, self.configuration) = (store, rows, configuration)
    }

    public func apply(_ change: Change, _ connection: Connection) throws { try rows.apply(change, connection) }

    public func makeWriter() -> any StoreWriter {
        CommittingWriter { [store, rows] changes, locked in
            try store.write { connection in
                locked()
                for change in changes { try rows.apply(change, connection) }
                // A transaction without changes makes no version.
                return Int64(connection.version) + (changes.isEmpty ? 0 : 1)
            }
        }
    }

    public func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription {
        let connection = try connection(at: site)
        guard query.order == .list else { return try rows.subscribe(to: query, connection, configuration, sink) }
        let list = try RowList.rows(connection)
        let token = try list.observe { change in
            switch change {
            case .initial(let list): sink.deliver(Delivery(connection, list.count, nil))
            case .update(let list, let changes): sink.deliver(Delivery(connection, list.count, changes))
            case .error(let error): sink.fail(error)
            }
        }
        return StillingWellSubscription(list, answer: { _ in throw DriverUnavailable("a list answers no questions") }) {
            token.invalidate()
        }
    }

    public var loadBatch: Int { rows.loadBatch }

    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws {
        try store.read { connection in try rows.forEachRow(of: query, connection, body) }
    }

    public func forget(_ site: DeliverySite) { _ = connections.remove(site) }

    public func contents(of query: Query) throws -> [Item] {
        try store.read { try rows.items(query, $0) }
    }

    public func compactedBytes() throws -> Int {
        // In the trial's folder beside the store: on the same file system, and used by no other trial.
        let folder = URL(fileURLWithPath: configuration.directory).appendingPathComponent(
            "compact-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try store.compact(to: folder.path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try files.reduce(0) { sum, file in
            let path = folder.appendingPathComponent(file).path
            // Counts allocated blocks, like `fileBytes`, because a file may have holes.
            var status = stat()
            guard stat(path, &status) == 0 else { throw DriverUnavailable("the compacted store cannot be read") }
            return sum + Int(status.st_blocks) * 512
        }
    }

    public func activeVersions() throws -> Int { store.activeVersions }

    public func pin() throws -> any HeldVersion { HeldRows(rows, try rows.pin(store)) }
}

/// The rows of a store at one version.
private final class HeldRows: HeldVersion {
    private let rows: any DrivenRows
    private let frozen: FrozenRead

    init(_ rows: any DrivenRows, _ frozen: FrozenRead) { (self.rows, self.frozen) = (rows, frozen) }

    var version: Int64 { Int64(frozen.version) }

    func contents(of query: Query) throws -> [Item] { try frozen.read { try rows.items(query, $0) } }
}

extension DrivenRows {
    /// Returns the rows in the order of the query.
    fileprivate func items(_ query: Query, _ connection: Connection) throws -> [Item] {
        if query.order == .list { return try RowList.rows(connection).map(\.item) }
        return try contents(of: query, connection)
    }
}
