// What keeps the queries of a process true: a thread with one connection, which asks all of them when it is time, or when it was
// notified, and gives each site the rows that have changed. What others ask of it stands in `orders`.
import Glibc
import StoreDriver
import TracedSync

/// Made and closed by who has the store; any thread subscribes.
final class PostgresWatcher: Sendable {
    private struct Orders {
        var new: [WatchedQuery] = []
        var isOver = false
    }

    private let orders: Guarded<Orders>
    private let sites = SiteMap<PostgresSite>("postgres driver")
    private let bell: Bell
    private let thread: TracedThread

    init(
        _ schema: PostgresSchema, _ way: PostgresDriver.Way, _ snapshots: ShownSnapshots, _ processes: ServerProcesses
    ) throws {
        let connection = try schema.connect()
        processes.add(connection.serverProcess, .watcher)
        // Before anything is fetched: what is committed from here on is heard of.
        if way == .notify { try connection.execute("LISTEN \(schema.name)") }
        let (orders, bell) = (Guarded("postgres watcher", Orders()), try Bell())
        (self.orders, self.bell) = (orders, bell)
        // The thread's own from here on.
        nonisolated(unsafe) let rounds = WatchRounds(connection, way, snapshots, bell)
        thread = TracedThread("pg-watch") {
            rounds.run {
                orders.withLock { orders in
                    defer { orders.new = [] }
                    return orders.isOver ? nil : orders.new
                }
            }
        }
    }

    /// On the site.
    func subscribe(to query: Query, at site: DeliverySite, _ sink: any DeliverySink) -> WatchedQuery {
        let place = sites.value(at: site) { PostgresSite(site) }
        let watched = WatchedQuery(query, place, sink)
        orders.withLock { $0.new.append(watched) }
        bell.ring()
        return watched
    }

    /// No delivery starts after it returns.
    func close() {
        orders.withLock { $0.isOver = true }
        bell.ring()
        thread.join()
        for site in sites.removeAll() { site.end() }
    }
}

/// Wakes a thread that waits for a socket. Any thread rings.
final class Bell: Sendable {
    private let ends: (heard: Int32, rung: Int32)

    init() throws {
        var made: [Int32] = [-1, -1]
        guard pipe(&made) == 0 else { throw PostgresError("no pipe can be made (errno \(errno)): raise `ulimit -n`") }
        for end in made {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        ends = (made[0], made[1])
    }

    deinit {
        close(ends.heard)
        close(ends.rung)
    }

    func ring() {
        var byte: UInt8 = 1
        _ = write(ends.rung, &byte, 1)
    }

    /// Waits until it rings, there is something at the socket, or the time is over.
    /// - Parameter timeoutMs: negative: for ever.
    func wait(orFor socket: Int32, timeoutMs: Int32) {
        var places = [
            pollfd(fd: ends.heard, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&places, 2, timeoutMs)
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ends.heard, &bytes, bytes.count) > 0 {}
    }
}

/// The rounds of a watcher. Its thread's own.
final class WatchRounds {
    private struct Known {
        let watched: WatchedQuery
        var rows: [Item]
    }

    private let connection: PostgresConnection
    private let way: PostgresDriver.Way
    private let snapshots: ShownSnapshots
    private let bell: Bell
    private var known: [Known] = []
    /// Of the queries that are known; nil once they are others.
    private var statement: String?
    /// The highest number of an outbox that was seen.
    private var lastNumber: Int64 = 0

    init(_ connection: PostgresConnection, _ way: PostgresDriver.Way, _ snapshots: ShownSnapshots, _ bell: Bell) {
        (self.connection, self.way, self.snapshots, self.bell) = (connection, way, snapshots, bell)
    }

    /// - Parameter orders: the queries that are new; nil: it is over.
    func run(_ orders: () -> [WatchedQuery]?) {
        let pollNs = Int64(way.pollMs ?? 0) * 1_000_000
        var nextNs = Self.nowNs() + pollNs
        while let new = orders() {
            do {
                if !new.isEmpty { try begin(new) }
                // What came while it fetched stands in the connection, and not at the socket.
                let notified = way == .notify ? try connection.takeNotifications() : 0
                let isDue = way.pollMs != nil && Self.nowNs() >= nextNs
                if notified > 0 || isDue {
                    try way == .outbox ? lookIntoOutbox() : look()
                    // A poll that took longer than the time between two is not made up for.
                    nextNs = max(nextNs + pollNs, Self.nowNs())
                    continue
                }
            } catch {
                for one in known.map(\.watched) + new { one.fail(error) }
                return refuse(orders, error)
            }
            let leftMs = Int32(max(0, (nextNs - Self.nowNs() + 999_999) / 1_000_000))
            bell.wait(orFor: connection.socket, timeoutMs: way.pollMs == nil ? -1 : leftMs)
        }
    }

    /// Fails whoever comes now, until it is over.
    private func refuse(_ orders: () -> [WatchedQuery]?, _ error: any Error) {
        while let new = orders() {
            for one in new { one.fail(error) }
            bell.wait(orFor: -1, timeoutMs: -1)
        }
    }

    private static func nowNs() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Fetches queries for the first time.
    private func begin(_ new: [WatchedQuery]) throws {
        let answer = try way == .poll ? multiplexed(new.map(\.query), isKept: false) : transaction(new.map(\.query))
        let token = snapshots.add(answer.snapshot)
        for (watched, rows) in zip(new, answer.rows) {
            known.append(Known(watched: watched, rows: rows))
            watched.site.post([(watched, rows)], token, isRound: false)
        }
        try forgetStatement()
    }

    /// Fetches all queries at one snapshot, and tells those whose rows are others now.
    private func look() throws {
        let before = known.count
        known.removeAll { $0.watched.isCancelled }
        if known.count != before { try forgetStatement() }
        guard !known.isEmpty else { return }
        let queries = known.map(\.watched.query)
        let answer = try way == .poll ? multiplexed(queries, isKept: true) : transaction(queries)
        tell(answer.rows, answer.snapshot)
    }

    /// - Parameter all: the rows of each query that is known.
    private func tell(_ all: [[Item]], _ snapshot: PostgresSnapshot) {
        var mail: [ObjectIdentifier: (site: PostgresSite, rows: [(WatchedQuery, [Item])])] = [:]
        for (index, rows) in all.enumerated() {
            let site = known[index].watched.site
            var post = mail.removeValue(forKey: ObjectIdentifier(site)) ?? (site, [])
            if rows != known[index].rows {
                known[index].rows = rows
                post.rows.append((known[index].watched, rows))
            }
            mail[ObjectIdentifier(site)] = post
        }
        let token = snapshots.add(snapshot)
        for (site, rows) in mail.values { site.post(rows, token, isRound: true) }
    }

    /// Fetches the rows that were numbered since the last look, and puts them in their places.
    private func lookIntoOutbox() throws {
        guard !known.isEmpty else { return }
        let results = try connection.pipeline([
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

    /// A transaction that reads one state, in two round trips: its snapshot is taken by the first statement.
    private func transaction(_ queries: [Query]) throws -> Answer {
        let statements: [(sql: String, values: [Int64])] =
            [("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []), (Self.snapshot, [])]
            + queries.map { ($0.select(ItemTable.columns), []) } + [("COMMIT", [])]
        let results = try connection.pipeline(statements)
        let rows = results[2..<(2 + queries.count)].map { result in (0..<result.count).map { result.item($0) } }
        return (try Self.read(results[1].text(0, 0)), rows)
    }

    /// All queries in one statement, which reads one state.
    /// - Parameter isKept: it is asked again.
    private func multiplexed(_ queries: [Query], isKept: Bool) throws -> Answer {
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
        if let statement { try connection.forget(statement) }
        statement = nil
    }

    private static func read(_ text: String) throws -> PostgresSnapshot {
        guard let snapshot = PostgresSnapshot(text) else {
            throw PostgresError("'\(text)' is no snapshot", in: snapshot)
        }
        return snapshot
    }
}
