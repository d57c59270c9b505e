// SQLite used directly, as by applications without an observation library. Hooks record the rows that a transaction
// touches; after the commit every delivery context runs its affected queries on its own connection.
import Foundation
import StillingWellSync
import TidegaugeDriver

/// The drivers of this module. `drivers.txt` names them.
public let allDrivers: [any StoreDriver] = [SQLiteHooksDriver()]

public struct SQLiteHooksDriver: StoreDriver {
    public let name = "sqlite-hooks"

    public init() {}

    public var facts: EngineFacts {
        EngineFacts(durabilities: Set(DurabilityLevel.allCases), persists: true, hasChangeSets: false) {
            $0.shows = .keys
            $0.hasLists = true
            $0.repeatsRows = true
            $0.remarks = [
                "a query that shows or matches a touched row is run again as a whole, on the observing thread",
                "'memory' is a WAL file on tmpfs",
            ]
        }
    }

    public func open(_ configuration: StoreConfiguration) throws -> HookedStore { try HookedStore(configuration) }
}

public final class HookedStore: CallableOnSite, WholeRowStore, AnsweringStore {
    /// The writing connection, used by one transaction at a time.
    private struct Writing {
        let connection: SQLiteConnection
        let journal: HookJournal
        var version: Int64 = 0

        init(path: String, synchronous: String, schema: String) throws {
            connection = try SQLiteConnection(path: path, synchronous: synchronous)
            try connection.execute(schema)
            journal = HookJournal(connection)
        }
    }

    private let path: String
    private let synchronous: String
    private let table: ShapedTable
    private let writing: Guarded<Writing>
    private let sites = SiteMap<HookedSite>("sqlite driver")

    init(_ configuration: StoreConfiguration) throws {
        path = configuration.directory + "/store.sqlite"
        synchronous = configuration.durability == .full ? "FULL" : "NORMAL"
        table = ShapedTable(configuration.rows, hasList: configuration.hasList)
        writing = Guarded("sqlite write lock", try Writing(path: path, synchronous: synchronous, schema: table.schema))
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        try write(locked: {}) { writer in
            for index in 0..<count {
                let change = Change(.insert, item(index))
                try table.shape.isPlain ? apply(change, writer) : Self.apply(change, table, writer)
            }
        }
    }

    public func makeWriter() -> any StoreWriter {
        if !table.shape.isPlain {
            return CommittingWriter { [self] changes, locked in
                try write(locked: locked) { writer in
                    for change in changes { try Self.apply(change, table, writer) }
                }
            }
        }
        return CommittingWriter { [self] changes, locked in
            try write(locked: locked) { writer in for change in changes { try apply(change, writer) } }
        }
    }

    @discardableResult
    private func write(locked: () -> Void, _ body: (SQLiteConnection) throws -> Void) throws -> Int64 {
        let (committed, touched) = try writing.withLock { writing in
            let writer = writing.connection
            try writer.run("BEGIN IMMEDIATE")
            do {
                locked()
                try body(writer)
                writing.version += 1
                try writer.run(ItemTable.setVersion, [writing.version])
                try writer.run("COMMIT")
            } catch {
                try? writer.run("ROLLBACK")
                throw error
            }
            return (writing.version, writing.journal.take())
        }
        if !touched.isEmpty {
            for site in sites.all { site.tell(touched) }
        }
        return committed
    }

    private func apply(_ change: Change, _ writer: SQLiteConnection) throws {
        let (sql, values) = table.statement(change)
        try writer.run(sql, values)
        if writer.changes == 0 { throw MissingItem(key: change.item.key) }
    }

    private static func apply(_ change: Change, _ table: ShapedTable, _ writer: SQLiteConnection) throws {
        for (sql, values) in table.statements(change) {
            try writer.run(sql, binding: values)
            if writer.changes == 0 { throw MissingItem(key: change.item.key) }
        }
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        try self.site(site).subscribe(to: query, sink)
    }

    private func site(_ site: DeliverySite) throws -> HookedSite {
        try sites.value(at: site) { HookedSite(try connect(), table, site) }
    }

    private func connect() throws -> SQLiteConnection { try SQLiteConnection(path: path, synchronous: synchronous) }

    public func call(_ call: SiteCall, at site: DeliverySite, granted: () -> Void) throws {
        switch call {
        case .beginWrite:
            try writing.withLock {
                try $0.connection.run("BEGIN IMMEDIATE")
                granted()
                try $0.connection.run("ROLLBACK")
            }
        case .refresh:
            try self.site(site).refresh()
            granted()
        }
    }

    public func contents(of query: Query) throws -> [Item] {
        var found: [Item] = []
        try connect().run(query.select(ItemTable.columns)) { found.append(Item($0)) }
        return found
    }

    public func forEachRow(of query: Query, _ body: (WholeRow) -> Void) throws {
        try connect().run(query.select(table.columns)) { body(WholeRow($0)) }
    }

    public func fileBytes() throws -> Int {
        try ["", "-wal", "-shm"].reduce(0) { sum, suffix in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return sum }
            return sum + (try FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int ?? 0)
        }
    }

    public func close() { for site in sites.removeAll() { site.end() } }
}
