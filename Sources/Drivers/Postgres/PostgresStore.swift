// A schema of one server, seen as a store: writers with a connection each, and one watcher.
import Foundation
import StoreDriver
import TracedSync

public final class PostgresStore: LateVersions, ServedStore {
    /// Of who opens and closes the store; nil where it is another's.
    nonisolated(unsafe) private let server: PostgresServer?
    private let way: PostgresDriver.Way
    private let schema: PostgresSchema
    private let snapshots = ShownSnapshots()
    private let processes = ServerProcesses()
    private let watcher: PostgresWatcher
    /// For questions of the harness; one asks at a time.
    private let asking: Guarded<PostgresConnection>

    init(_ configuration: StoreConfiguration, _ way: PostgresDriver.Way) throws {
        let given = configuration.serverURL
        let server = try given == nil ? PostgresServer(in: configuration.directory, configuration.durability) : nil
        (self.server, self.way) = (server, way)
        do {
            // A server of one's own has been told.
            let waits = configuration.durability == .full ? "on" : "off"
            schema = PostgresSchema(
                server?.options ?? [("dbname", given ?? "")], server == nil ? ["synchronous_commit=\(waits)"] : [])
            try schema.create()
            do {
                asking = Guarded("postgres questions", try schema.connect())
                watcher = try PostgresWatcher(schema, way, snapshots, processes)
            } catch {
                try? schema.drop()
                throw error
            }
        } catch {
            server?.stop()
            throw error
        }
        if let server { processes.begin(server.process) }
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        let connection = try schema.connect()
        try schema.load(connection, count: count, item: item)
        switch way {
        case .poll: break
        case .notify: try schema.notify(connection)
        case .outbox: try schema.number(connection)
        }
    }

    public func makeWriter() throws -> any StoreWriter {
        let connection = try schema.connect()
        processes.add(connection.serverProcess, .writer)
        return PostgresWriter(connection, processes)
    }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        watcher.subscribe(to: query, at: site, sink)
    }

    public func contents(of query: Query) throws -> [Item] {
        try asking.withLock { connection in
            let rows = try connection.run(query.select(ItemTable.columns))
            return (0..<rows.count).map { rows.item($0) }
        }
    }

    public func fileBytes() throws -> Int {
        try asking.withLock { Int(try $0.run("SELECT pg_total_relation_size('item')").integer(0, 0)) }
    }

    public func close() throws {
        watcher.close()
        try schema.drop()
        server?.stop()
    }

    // MARK: LateVersions

    public func order(ofCommits commits: [Int64]) throws -> LateOrder {
        let chain = SnapshotChain(commits, snapshots.list)
        let versions = Dictionary(uniqueKeysWithValues: chain.commits.enumerated().map { ($1, Int64($0 + 1)) })
        return LateOrder(
            versions: versions,
            standing: { [snapshots] token in
                if chain.seen.indices.contains(Int(token) - 1) { return Int64(chain.seen[Int(token) - 1]) }
                return snapshots.standing(token, behind: chain.commits)
            }, problem: chain.problem)
    }

    public func shows(delivery: Int64, commit: Int64) -> Bool { snapshots.sees(delivery, commit) }

    // MARK: ServedStore

    public func serverCPU() -> [String: Int64]? { server == nil ? nil : processes.cpu() }
}

/// One connection and its thread.
final class PostgresWriter: StoreWriter {
    private static let token = " RETURNING pg_current_xact_id()::text::bigint"

    private let connection: PostgresConnection
    private let processes: ServerProcesses

    init(_ connection: PostgresConnection, _ processes: ServerProcesses) {
        (self.connection, self.processes) = (connection, processes)
    }

    deinit { processes.end(connection.serverProcess) }

    /// Other writers wait for no lock but those of its rows, which nobody else writes.
    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        if changes.count == 1 {
            locked()
            let (sql, values) = PostgresSchema.statement(changes[0])
            let rows = try connection.run(sql + Self.token, values)
            guard rows.count == 1 else { throw MissingItem(key: changes[0].item.key) }
            return rows.integer(0, 0)
        }
        return try connection.transaction {
            locked()
            guard !changes.isEmpty else { return nil }
            let rows = try connection.pipeline(
                changes.map { change in
                    let (sql, values) = PostgresSchema.statement(change)
                    return (sql + Self.token, values)
                })
            for (change, row) in zip(changes, rows) where row.count == 0 { throw MissingItem(key: change.item.key) }
            return rows[0].integer(0, 0)
        }
    }
}
