// A replication connection with a temporary slot of its own: a copy of the table at the slot's beginning, and after it every commit
// from there on, in the order of the log. One thread.
import Glibc
import TidegaugeDriver

/// What an observing process hears of the server: the slot goes with the connection.
final class ReplicationFeed {
    private let connection: PostgresConnection
    private let slot: String
    private let publication: String
    /// Only the connection's next command ends it.
    private let exported: String
    /// All before it has been taken.
    private(set) var received: LogPosition = 0
    private var isInTransaction = false
    private var toldNs: Int64 = 0
    private var owesAnswer = true

    /// Makes the slot: from here on the server keeps what it has to send. Waits for transactions that are under way.
    init(_ schema: PostgresSchema) throws {
        connection = try schema.connectForReplication()
        publication = schema.name
        slot = schema.name + "_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        exported = try connection.makeSlot(slot)
    }

    var socket: Int32 { connection.socket }
    var serverProcess: Int32 { connection.serverProcess }

    /// All rows, in the order of their keys, as they are where the slot begins, and which commits are in them.
    /// - Parameter connection: another one.
    func copy(over connection: PostgresConnection) throws -> (snapshot: PostgresSnapshot, items: [Item]) {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try connection.execute("SET TRANSACTION SNAPSHOT '\(exported)'")
        let text = try connection.run("SELECT pg_current_snapshot()::text").text(0, 0)
        let rows = try connection.run("SELECT \(ItemTable.columns) FROM item ORDER BY key")
        try connection.execute("COMMIT")
        guard let snapshot = PostgresSnapshot(text) else { throw PostgresError("'\(text)' is no snapshot") }
        return (snapshot, (0..<rows.count).map { rows.item($0) })
    }

    /// Begins to receive. The exported snapshot ends.
    func start() throws {
        try connection.execute(
            """
            START_REPLICATION SLOT "\(slot)" LOGICAL 0/0 (proto_version '1', publication_names '\(publication)', binary 'true')
            """)
    }

    /// Takes what has come by now.
    /// - Returns: whether anything has.
    func take(_ body: (StreamedChange) throws -> Void) throws -> Bool {
        try connection.takeIn()
        var hasCome = false
        while let message = try connection.takeCopied({ try ReplicationMessage($0) }) {
            hasCome = true
            switch message {
            case .keepAlive(let end, let wantsAnswer):
                // Between transactions there is nothing before that place that was not sent.
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

    /// Tells the server how far it need not keep anything: at once where there is news or it asked, and every second.
    func answer(_ nowNs: Int64) throws {
        guard owesAnswer || nowNs - toldNs >= Int64(PostgresWay.answerEveryMs) * 1_000_000 else { return }
        (owesAnswer, toldNs) = (false, nowNs)
        try connection.sendCopied(Self.status(received))
    }

    /// Written, flushed and applied up to a place; the time, which nobody looks at, is left out; no answer is asked for.
    static func status(_ position: LogPosition) -> [UInt8] {
        let place = withUnsafeBytes(of: position.bigEndian) { Array($0) }
        return [UInt8(ascii: "r")] + place + place + place + Array(repeating: 0, count: 9)
    }
}
