// The work of a watcher that runs all queries of the process again, at intervals or after signals of changes; `outbox`
// fetches the numbered rows instead. After a lost connection, a strategy with signals listens again before it runs the
// queries, except `lateListen`.
import Glibc
import StillingWellBasis
import TidegaugeDriver

/// Used on the thread of the watcher, after `init`.
final class WatchRounds: WatcherRounds {
    private struct Known {
        let watched: WatchedQuery
        var rows: [Item]
    }

    /// The source of signals of changes.
    private enum Ear {
        case nobody
        case notifications(PostgresConnection)
        /// A signal for each commit, which the server sends as soon as it is on disk.
        case stream(ReplicationFeed)
    }

    private let schema: PostgresSchema
    private let way: PostgresWay
    private let snapshots: ShownSnapshots
    private let processes: ServerProcesses
    private let bell: Bell
    /// Nil before the first connection, and after it was lost.
    private var asking: PostgresConnection?
    private var ear = Ear.nobody
    private var patience = Patience()
    private var known: [Known] = []
    /// Queries that have not been fetched yet.
    private var waiting: [WatchedQuery] = []
    /// The statement for the known queries, if it is prepared.
    private var statement: String?
    /// The highest outbox number seen.
    private var lastNumber: Int64 = 0

    /// - Parameter connects: whether to connect immediately instead of for the first query.
    /// - Throws: errors of `connect()`.
    init(
        _ schema: PostgresSchema, _ way: PostgresWay, _ snapshots: ShownSnapshots, _ processes: ServerProcesses,
        _ bell: Bell, connects: Bool
    ) throws {
        (self.schema, self.way, self.snapshots, self.processes, self.bell) = (schema, way, snapshots, processes, bell)
        if connects { try connect() }
    }

    /// Connects. If the strategy has notifications or a stream from the start, all later commits are noticed.
    private func connect() throws {
        let connection = try schema.connect()
        processes.add(connection.serverProcess, .watcher)
        switch way.hearing {
        case .nothing, .notificationsLate: ear = .nobody
        case .notifications:
            try connection.execute("LISTEN \(schema.name)")
            ear = .notifications(connection)
        case .stream:
            let feed = try ReplicationFeed(schema)
            try feed.start()
            ear = .stream(feed)
        }
        statement = nil
        asking = connection
    }

    func run(_ orders: () -> [WatchedQuery]?) {
        let pollNs = Int64(way.pollMs ?? 0) * 1_000_000
        var nextNs = MonotonicClock.nowNs() + pollNs
        while let new = orders() {
            waiting += new
            do {
                if asking == nil, !(known.isEmpty && waiting.isEmpty) {
                    try connect()
                    try look()
                }
                patience.found()
                try begin()
                // Notifications from the fetch are in the connection's buffer; the socket is not readable for them.
                let hasHeard = try hears()
                let isDue = way.pollMs != nil && MonotonicClock.nowNs() >= nextNs
                if hasHeard || isDue {
                    try way == .outbox ? lookIntoOutbox() : look()
                    // A poll that took longer than the interval is not made up for.
                    nextNs = max(nextNs + pollNs, MonotonicClock.nowNs())
                    continue
                }
            } catch let error as PostgresError where error.isConnectionLost && patience.goesOn(MonotonicClock.nowNs()) {
                lose()
                bell.wait(orFor: -1, timeoutMs: Patience.retryEveryMs)
                continue
            } catch {
                for one in known.map(\.watched) + waiting { one.fail(error) }
                return refuse(orders, bell, error)
            }
            let leftMs = Int32(max(0, (nextNs - MonotonicClock.nowNs() + 999_999) / 1_000_000))
            bell.wait(orFor: socket, timeoutMs: way.pollMs == nil ? way.hearing.wakeEveryMs : leftMs)
        }
    }

    private func lose() {
        if let asking { processes.end(asking.serverProcess) }
        if case .notifications(let connection) = ear { processes.end(connection.serverProcess) }
        (asking, ear) = (nil, .nobody)
    }

    private var socket: Int32 {
        switch ear {
        case .nobody: -1
        case .notifications(let connection): connection.socket
        case .stream(let feed): feed.socket
        }
    }

    private func hears() throws -> Bool {
        switch ear {
        case .nobody: return false
        case .notifications(let connection): return try connection.takeNotifications() > 0
        case .stream(let feed):
            var hasCommitted = false
            _ = try feed.take { if case .commit = $0 { hasCommitted = true } }
            try feed.answer(MonotonicClock.nowNs())
            return hasCommitted
        }
    }

    /// Fetches queries for the first time.
    private func begin() throws {
        guard !waiting.isEmpty, let asking else { return }
        let queries = waiting.map(\.query)
        let answer =
            try way.hearing == .nothing ? multiplexed(queries, isKept: false, asking) : transaction(queries, asking)
        let token = snapshots.add(answer.snapshot)
        for (watched, rows) in zip(waiting, answer.rows) {
            known.append(Known(watched: watched, rows: rows))
            watched.site.post([(watched, .fetched(rows))], token, isRound: false)
        }
        waiting = []
        try forgetStatement()
        try listenLate()
    }

    /// The mistake of `flawed-postgres-late-listen`: it starts to listen only now that the rows are shown. The delay
    /// is like that of a network; on one machine commits would fall into the gap only sometimes.
    private func listenLate() throws {
        guard way.hearing == .notificationsLate, case .nobody = ear else { return }
        usleep(50_000)
        let connection = try schema.connect()
        processes.add(connection.serverProcess, .watcher)
        try connection.execute("LISTEN \(schema.name)")
        ear = .notifications(connection)
    }

    /// Fetches all queries at one snapshot and posts those whose rows have changed.
    private func look() throws {
        let before = known.count
        known.removeAll { $0.watched.isCancelled }
        if known.count != before { try forgetStatement() }
        guard !known.isEmpty, let asking else { return }
        let queries = known.map(\.watched.query)
        let answer =
            try way.hearing == .nothing ? multiplexed(queries, isKept: true, asking) : transaction(queries, asking)
        tell(answer.rows, answer.snapshot)
        try listenLate()
    }

    /// - Parameter all: the rows of each known query.
    private func tell(_ all: [[Item]], _ snapshot: PostgresSnapshot) {
        var mail: [ObjectIdentifier: (site: PostgresSite, rows: [(WatchedQuery, QueryRows)])] = [:]
        for (index, rows) in all.enumerated() {
            let site = known[index].watched.site
            var post = mail.removeValue(forKey: ObjectIdentifier(site)) ?? (site, [])
            if rows != known[index].rows {
                known[index].rows = rows
                post.rows.append((known[index].watched, .fetched(rows)))
            }
            mail[ObjectIdentifier(site)] = post
        }
        let token = snapshots.add(snapshot)
        for (site, rows) in mail.values { site.post(rows, token, isRound: true) }
    }

    /// Fetches the rows that were numbered since the last look, and merges them into the queries.
    private func lookIntoOutbox() throws {
        guard !known.isEmpty, let asking else { return }
        let results = try asking.pipeline([
            ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []), (Self.snapshot, []),
            ("SELECT id, key FROM outbox WHERE id > $1::bigint ORDER BY id", [lastNumber]),
            (
                "SELECT \(ItemTable.columns) FROM item WHERE key IN (SELECT key FROM outbox WHERE id > $1::bigint)",
                [lastNumber]
            ), ("COMMIT", []),
        ])
        let (numbered, found) = (results[2], results[3])
        guard numbered.count > 0 else { return }
        lastNumber = numbered.integer(numbered.count - 1, 0)
        let written = Set((0..<numbered.count).map { numbered.integer($0, 1) })
        let items = (0..<found.count).map { found.item($0) }
        known.removeAll { $0.watched.isCancelled }
        let rows = known.map { known in
            let query = known.watched.query
            let new = items.filter { query.matches(key: $0.key, group: $0.group, score: $0.score) }
            return Self.sorted(known.rows.filter { !written.contains($0.key) } + new, query.order)
        }
        tell(rows, try Self.read(results[1].text(0, 0)))
    }

    private static func sorted(_ rows: [Item], _ order: Query.Order) -> [Item] {
        switch order {
        case .none, .list: rows
        case .scoreAscending: rows.sorted { $0.score < $1.score }
        case .scoreDescending: rows.sorted { $0.score > $1.score }
        }
    }

    // MARK: Asking

    private typealias Answer = (snapshot: PostgresSnapshot, rows: [[Item]])

    private static let snapshot = "SELECT pg_current_snapshot()::text"

    /// Reads one state in a transaction in one pipeline; the first statement after `BEGIN` takes its snapshot.
    private func transaction(_ queries: [Query], _ connection: PostgresConnection) throws -> Answer {
        let statements: [(sql: String, values: [Int64])] =
            [("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []), (Self.snapshot, [])]
            + queries.map { ($0.select(ItemTable.columns), []) } + [("COMMIT", [])]
        let results = try connection.pipeline(statements)
        let rows = results[2..<(2 + queries.count)].map { result in (0..<result.count).map { result.item($0) } }
        return (try Self.read(results[1].text(0, 0)), rows)
    }

    /// Runs all queries in one statement, which reads one state.
    /// - Parameter isKept: whether the statement will be run again.
    private func multiplexed(_ queries: [Query], isKept: Bool, _ connection: PostgresConnection) throws -> Answer {
        let sql = isKept ? statement ?? Self.union(queries) : Self.union(queries)
        if isKept { statement = sql }
        let result = try connection.run(sql)
        if !isKept { try connection.forget(sql) }
        var (rows, snapshot) = (Array(repeating: [Item](), count: queries.count), "")
        for row in 0..<result.count {
            let query = Int(result.integer(row, 0))
            if query == 0 { snapshot = result.text(row, 1) } else { rows[query - 1].append(result.item(row, from: 2)) }
        }
        return (try Self.read(snapshot), rows)
    }

    private static func union(_ queries: [Query]) -> String {
        let parts = queries.enumerated().map { index, query in
            "(\(query.select("\(index + 1)::bigint, NULL::text, \(ItemTable.columns)")))"
        }
        let first = "SELECT 0::bigint, pg_current_snapshot()::text, 0::bigint, 0::bigint, 0::bigint, 0::bigint"
        return ([first] + parts).joined(separator: " UNION ALL ")
    }

    private func forgetStatement() throws {
        if let statement { try asking?.forget(statement) }
        statement = nil
    }

    private static func read(_ text: String) throws -> PostgresSnapshot {
        guard let snapshot = PostgresSnapshot(text) else {
            throw PostgresError("'\(text)' is no snapshot", in: snapshot)
        }
        return snapshot
    }
}
