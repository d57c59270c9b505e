// A schema of one server as a store: a connection for each writer, and one watcher.
import Foundation
import StillingWellSync
import TidegaugeDriver

public final class PostgresStore: LateVersions, ServedStore, ReachableStore, HarmableServer {
    /// Server that this store started, used by the thread that opens and closes the store. Nil if the server is
    /// another's.
    nonisolated(unsafe) private let server: PostgresServer?
    /// Whether another process made the schema.
    private let isGuest: Bool
    private let asked: ServerConfiguration
    private let way: PostgresWay
    private let schema: PostgresSchema
    private let deliveryOrder: any DeliveryOrder
    private let processes = ServerProcesses()
    private let watcher: PostgresWatcher
    private let batcher: NotifyBatcher?
    /// Lock for queries of the harness.
    private let questions = TracedMutex("postgres questions")
    /// Guarded by `questions`.
    nonisolated(unsafe) private var asking: PostgresConnection?
    /// Made when the rows are loaded, if the configuration asks for it.
    private let company = SetOnce<ServerCompany>()

    init(_ configuration: StoreConfiguration, _ way: PostgresWay) throws {
        (asked, self.way, isGuest) = (configuration.server, way, configuration.address != nil)
        let given = asked.url
        let server =
            try given == nil && !isGuest
            ? PostgresServer(
                in: configuration.directory, configuration.durability, over: asked.transport,
                reachedAt: asked.reachedAt,
                settings: Self.settings(asked, way)) : nil
        self.server = server
        do {
            // The trial's own server was started with this setting.
            let waits = configuration.durability == .full ? "on" : "off"
            schema =
                try configuration.address.map { try PostgresSchema(at: $0, password: configuration.secret) }
                ?? PostgresSchema(
                    server?.options ?? [("dbname", given ?? "")], server == nil ? ["synchronous_commit=\(waits)"] : [])
            if !isGuest { try schema.create(way) }
            do {
                asking = try schema.connect()
                let bell = try Bell()
                if way == .wal {
                    let stream = ShownStream()
                    deliveryOrder = stream
                    watcher = PostgresWatcher(StreamRounds(schema, stream, bell), bell)
                } else {
                    let snapshots = ShownSnapshots()
                    deliveryOrder = snapshots
                    // A process that opened the store by its address connects at its first query.
                    let rounds = try WatchRounds(schema, way, snapshots, processes, bell, connects: !isGuest)
                    watcher = PostgresWatcher(rounds, bell)
                }
                batcher =
                    if case .batch(let everyMs) = way {
                        try NotifyBatcher(schema, everyMs: everyMs, processes)
                    } else { nil }
            } catch {
                if server == nil, !isGuest { try? schema.drop() }
                throw error
            }
        } catch {
            server?.stop()
            throw error
        }
        if let server { processes.begin(server.process) }
    }

    /// Settings of the trial's own server: enough connections, and a logical log if it is read.
    private static func settings(_ asked: ServerConfiguration, _ way: PostgresWay) -> [String] {
        let slots = 10 + asked.slots + asked.guests
        return [
            "max_connections=\(200 + asked.listeners + 4 * asked.guests)", "max_wal_senders=\(slots)",
            "max_replication_slots=\(slots)",
        ]
            + (way.hearing == .stream || asked.slots > 0 ? ["wal_level=logical"] : [])
    }

    public func load(count: Int, item: (Int) -> Item) throws {
        let connection = try schema.connect()
        try schema.load(connection, count: count, item: item)
        try schema.addTrigger(way, connection)
        if asked.hasCompany { company.set(try ServerCompany(asked, schema)) }
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

    /// Runs a query of the harness. If the connection has been lost, runs it again on a new one.
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
        company.known?.close()
        // The trial's own server is discarded as a whole.
        if let server { server.stop() } else if !isGuest { try schema.drop() }
    }

    // MARK: LateVersions

    public func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        try deliveryOrder.order(ofCommits: commits, alsoShown: others)
    }

    public func shown() throws -> Data { try deliveryOrder.shown() }

    public func shows(delivery: Int64, commit: Int64) -> Bool { deliveryOrder.sees(delivery, commit) }

    // MARK: ReachableStore

    public var address: String { schema.address(at: asked.reachedAt) }

    public var secret: String? { server?.password }

    public func obstacle(from place: ProcessPlace) -> String? { Self.obstacle(asked, from: place) }

    /// Returns why a process at `place` cannot reach the server and what to do, or nil if it can. Also nil for a server
    /// given by URL, because it is not known which addresses and clients that server accepts.
    static func obstacle(_ asked: ServerConfiguration, from place: ProcessPlace) -> String? {
        guard asked.url == nil else { return nil }
        switch (asked.transport, place) {
        case (_, .near), (.unix, .otherNetwork): return nil
        case (.unix, .otherMachine):
            return
                "the trial's server is reached by a socket of this machine's files: measure with 'server.transport: tcp', and "
                + Self.remedy
        case (.tcp, .otherNetwork), (.tcp, .otherMachine):
            return asked.reachedAt == nil
                ? "the trial's server is reached by this machine's loopback interface alone: " + Self.remedy : nil
        }
    }

    private static let remedy =
        "name in the hosts file an address of this machine that they reach ('db: { run: [], server: true, address: 10.0.0.1 }'), or a "
        + "server that is there already by --set server.url="

    // MARK: ServedStore

    public func serverCPU() -> [String: Int64]? {
        guard server != nil else { return nil }
        if asked.guests > 0 { lookForGuests() }
        return processes.cpu()
    }

    /// Finds the server processes of writers on other hosts. If the query fails, none are added.
    private func lookForGuests() {
        let writers = try? ask { connection in
            let rows = try connection.run(
                "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = '\(ServerProcesses.writerName)'")
            return (0..<rows.count).map { Int32(rows.integer($0, 0)) }
        }
        processes.addGuests(writers ?? [])
    }

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
            // `processes` does not know the server processes of replication connections, so they are found by their
            // slots. Those of `ServerCompany` have such slots too.
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
