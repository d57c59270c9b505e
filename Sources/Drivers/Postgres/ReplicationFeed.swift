// A replication connection with its own temporary slot. It provides a copy of the table at the slot's beginning, and
// then every later commit in the order of the log. Used by one thread.
import Glibc
import TidegaugeDriver

/// The slot ends with the connection.
final class ReplicationFeed {
    private let connection: PostgresConnection
    private let slot: String
    private let publication: String
    /// Name of the exported snapshot. It is valid until the connection's next command.
    private let exported: String
    /// Position up to which the log has been processed.
    private(set) var received: LogPosition = 0
    private var isInTransaction = false
    private var toldNs: Int64 = 0
    private var owesAnswer = true

    /// Makes the slot; the server keeps its log from here on. Waits for running transactions.
    init(_ schema: PostgresSchema) throws {
        connection = try schema.connectForReplication()
        publication = schema.name
        slot = schema.name + "_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        exported = try connection.makeSlot(slot)
    }

    var socket: Int32 { connection.socket }
    var serverProcess: Int32 { connection.serverProcess }

    /// Returns all rows at the slot's beginning, ordered by key, and the snapshot that they are from.
    /// - Parameter connection: another connection.
    func copy(over connection: PostgresConnection) throws -> (snapshot: PostgresSnapshot, items: [Item]) {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try connection.execute("SET TRANSACTION SNAPSHOT '\(exported)'")
        let text = try connection.run("SELECT pg_current_snapshot()::text").text(0, 0)
        let rows = try connection.run("SELECT \(ItemTable.columns) FROM item ORDER BY key")
        try connection.execute("COMMIT")
        guard let snapshot = PostgresSnapshot(text) else { throw PostgresError("'\(text)' is no snapshot") }
        return (snapshot, (0..<rows.count).map { rows.item($0) })
    }

    /// Starts the stream. The exported snapshot ends.
    func start() throws {
        try connection.execute(
            """
            START_REPLICATION SLOT "\(slot)" LOGICAL 0/0 (proto_version '1', publication_names '\(publication)', binary 'true')
            """)
    }

    /// Processes the messages received so far.
    /// - Returns: whether there were any.
    func take(_ body: (StreamedChange) throws -> Void) throws -> Bool {
        try connection.takeIn()
        var hasCome = false
        while let message = try connection.takeCopied({ try ReplicationMessage($0) }) {
            hasCome = true
            switch message {
            case .keepAlive(let end, let wantsAnswer):
                // Between transactions, everything before that position has been sent.
                if !isInTransaction { received = max(received, end) }
                if wantsAnswer { owesAnswer = true }
            case .change(let change):
                try body(change)
                note(change)
            }
        }
        return hasCome
    }

    private func note(_ change: StreamedChange) {
        switch change {
        case .begin: isInTransaction = true
        case .commit(_, let end):
            isInTransaction = false
            received = end
            owesAnswer = true
        case .write, .delete, .truncate, .nothing: break
        }
    }

    /// Reports the processed position after commits, on request and every second; the server may then discard its log.
    func answer(_ nowNs: Int64) throws {
        guard owesAnswer || nowNs - toldNs >= Int64(PostgresWay.answerEveryMs) * 1_000_000 else { return }
        (owesAnswer, toldNs) = (false, nowNs)
        try connection.sendCopied(Self.status(received))
    }

    /// A status message: written, flushed and applied up to a position, without a time and without a request to answer.
    static func status(_ position: LogPosition) -> [UInt8] {
        let place = withUnsafeBytes(of: position.bigEndian) { Array($0) }
        return [UInt8(ascii: "r")] + place + place + place + Array(repeating: 0, count: 9)
    }
}
