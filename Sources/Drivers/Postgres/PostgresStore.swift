// A schema of one server, seen as a store: writers with a connection each, and one watcher.
import Foundation
import StoreDriver
import TracedSync

public final class PostgresStore: LateVersions, ServedStore, HarmableServer {
    /// Of who opens and closes the store; nil where it is another's.
    nonisolated(unsafe) private let server: PostgresServer?
    private let asked: ServerConfiguration
    private let way: PostgresWay
    private let schema: PostgresSchema
    private let shown: any DeliveryOrder
    private let processes = ServerProcesses()
    private let watcher: PostgresWatcher
    private let batcher: NotifyBatcher?
    /// Held by who asks a question of the harness's.
    private let questions = TracedMutex("postgres questions")
    /// Guarded by that. nil once it was lost.
    nonisolated(unsafe) private var asking: PostgresConnection?
    /// Of who loads and closes the store.
    nonisolated(unsafe) private var company: ServerCompany?

    init(_ configuration: StoreConfiguration, _ way: PostgresWay) throws {
        (asked, self.way) = (configuration.server, way)
        let given = asked.url
        let server =
            try given == nil
            ? PostgresServer(
                in: configuration.directory, configuration.durability, over: asked.transport,
                settings: Self.settings(asked, way)) : nil
        self.server = server
        do {
            // A server of one's own has been told.
            let waits = configuration.durability == .full ? "on" : "off"
            schema = PostgresSchema(
                server?.options ?? [("dbname", given ?? "")], server == nil ? ["synchronous_commit=\(waits)"] : [])
            try schema.create(way)
            do {
                asking = try schema.connect()
                let bell = try Bell()
                if way == .wal {
                    let stream = ShownStream()
                    shown = stream
                    watcher = PostgresWatcher(StreamRounds(schema, stream, bell), bell)
                } else {
                    let snapshots = ShownSnapshots()
                    shown = snapshots
                    watcher = PostgresWatcher(try WatchRounds(schema, way, snapshots, processes, bell), bell)
                }
                batcher =
                    if case .batch(let everyMs) = way {
                        try NotifyBatcher(schema, everyMs: everyMs, processes)
                    } else { nil }
            } catch {
                if server == nil { try? schema.drop() }
                throw error
            }
        } catch {
            server?.stop()
            throw error
        }
        if let server { processes.begin(server.process) }
    }

    /// Of a server of one's own: room for who connects, and a log that rows can be read from, where somebody does.
    private static func settings(_ asked: ServerConfiguration, _ way: PostgresWay) -> [String] {
        let slots = 10 + asked.slots
        return [
            "max_connections=\(200 + asked.listeners)", "max_wal_senders=\(slots)", "max_replication_slots=\(slots)",
        ]
            + (way.hearing == .stream || asked.slots > 0 ? ["wal_level=logical"] : [])
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        let connection = try schema.connect()
        try schema.load(connection, count: count, item: item)
        try schema.addTrigger(way, connection)
        if asked.hasCompany { company = try ServerCompany(asked, schema) }
    }

    public func makeWriter() throws -> any StoreWriter { try PostgresWriter(schema, processes, batcher) }

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws
        -> any DriverSubscription
    {
        watcher.subscribe(to: query, at: site, sink)
    }

    public func contents(of query: Query) throws -> [Item] {
        try ask { connection in
            let rows = try connection.run(query.select(ItemTable.columns))
            return (0..<rows.count).map { rows.item($0) }
        }
    }

    public func fileBytes() throws -> Int {
        try ask { Int(try $0.run("SELECT pg_total_relation_size('item')").integer(0, 0)) }
    }

    /// Asks once more where the connection turns out to have been lost since the last question.
    private func ask<Answer>(_ question: (PostgresConnection) throws -> Answer) throws -> Answer {
        try questions.withLock {
            if let open = asking {
                do { return try question(open) } catch let error as PostgresError where error.isConnectionLost {
                    asking = nil
                }
            }
            let new = try schema.connect()
            asking = new
            return try question(new)
        }
    }

    public func close() throws {
        watcher.close()
        batcher?.close()
        company?.close()
        // What is one's own goes as a whole.
        if let server { server.stop() } else { try schema.drop() }
    }

    // MARK: LateVersions

    public func order(ofCommits commits: [Int64]) throws -> LateOrder { shown.order(ofCommits: commits) }

    public func shows(delivery: Int64, commit: Int64) -> Bool { shown.sees(delivery, commit) }

    // MARK: ServedStore

    public func serverCPU() -> [String: Int64]? { server == nil ? nil : processes.cpu() }

    // MARK: HarmableServer

    public func restartServer() throws {
        guard let server else {
            throw DriverUnavailable("'server.url' names another's server, which no trial restarts")
        }
        try server.restart()
        processes.begin(server.process)
    }

    public func cutObservers() throws {
        let watching = processes.known(.watcher)
        try ask { connection in
            for process in watching {
                _ = try connection.run("SELECT pg_terminate_backend($1::bigint::int)::int::bigint", [Int64(process)])
            }
            // Those that are sent the log have no name here.
            _ = try connection.run(
                """
                SELECT pg_terminate_backend(active_pid)::int::bigint FROM pg_replication_slots
                WHERE slot_name LIKE '\(schema.name)%' AND active_pid IS NOT NULL
                """)
        }
    }

    public func stopListener() throws -> AnyObject {
        let connection = try schema.connect()
        try connection.execute("LISTEN \(schema.name)")
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        _ = try connection.run("SELECT count(*) FROM item")
        return connection
    }

    public func commitLarge(rows: Int) throws {
        let connection = try schema.connect()
        try connection.execute("CREATE TABLE IF NOT EXISTS large (number bigint)")
        try connection.execute("INSERT INTO large SELECT generate_series(1, \(rows))")
    }
}
