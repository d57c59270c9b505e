// Load of a server beside a trial's store, if a scenario asks for it: connections that listen on unused channels,
// slots whose changes are discarded, a standby that every synchronous commit waits for.
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization
import TidegaugeDriver

/// Made when the rows are loaded, before the first observer. Belongs to the store's owner.
final class ServerCompany: Sendable {
    private let bell: Bell
    private let isOver = Atomic<Bool>(false)
    private let listeners: DeliveryBound<[PostgresConnection]>
    private let threads = DeliveryBound<[TracedThread]>([])

    init(_ server: ServerConfiguration, _ schema: PostgresSchema) throws {
        bell = try Bell()
        listeners = DeliveryBound(
            here: try (0..<server.listeners).map { number in
                let connection = try schema.connect()
                try connection.execute("LISTEN \(schema.name)_\(number)")
                return connection
            })
        if server.slots > 0 { try readSlots(server.slots, schema) }
        if server.standbyNs > 0 { try makeStandby(server.standbyNs, schema) }
    }

    func close() {
        isOver.store(true, ordering: .releasing)
        bell.ring()
        threads.claim()
        listeners.claim()
        for thread in threads.value { thread.join() }
        (threads.value, listeners.value) = ([], [])
    }

    /// Reads slots like separate processes: the server decodes and sends all commits for each of them. It does so only
    /// with strategies whose schema has a publication (`PostgresSchema.create`).
    private func readSlots(_ count: Int, _ schema: PostgresSchema) throws {
        let feeds = DeliveryBound(
            try (0..<count).map { _ in
                let feed = try ReplicationFeed(schema)
                try feed.start()
                return feed
            })
        threads.value.append(
            TracedThread("pg-slots") { [self] in
                while !isOver.load(ordering: .acquiring) {
                    // A feed whose connection has been cut stays unread.
                    for feed in feeds.value {
                        _ = try? feed.take { _ in }
                        try? feed.answer(MonotonicClock.nowNs())
                    }
                    bell.wait(orFor: feeds.value.map(\.socket), timeoutMs: 1_000)
                }
            })
    }

    /// Starts the standby. From here on commits with `synchronous_commit=on` return, and become visible, only after its
    /// acknowledgement.
    private func makeStandby(_ delayNs: Int64, _ schema: PostgresSchema) throws {
        let standby = DeliveryBound(try Standby(schema, delayNs))
        threads.value.append(
            TracedThread("pg-standby") { [self] in
                while !isOver.load(ordering: .acquiring) {
                    guard let waitMs = try? standby.value.answer(MonotonicClock.nowNs()) else { return }
                    bell.wait(orFor: standby.value.socket, timeoutMs: waitMs)
                }
            })
        let connection = try schema.connect()
        try connection.execute("ALTER SYSTEM SET synchronous_standby_names = '\(Standby.name)'")
        _ = try connection.run("SELECT pg_reload_conf()::int::bigint")
    }
}

/// Receives the server's log and acknowledges it after a delay, like a standby over a network. Used by one thread.
private final class Standby {
    static let name = "tidegauge_standby"

    private let connection: PostgresConnection
    private let delayNs: Int64
    private var due: [(atNs: Int64, position: LogPosition)] = []

    init(_ schema: PostgresSchema, _ delayNs: Int64) throws {
        (connection, self.delayNs) = (try schema.connectForReplication(as: Self.name), delayNs)
        try connection.startLog()
    }

    var socket: Int32 { connection.socket }

    /// - Returns: the time in ms until the next acknowledgement is due; 1,000 if none is.
    func answer(_ nowNs: Int64) throws -> Int32 {
        try connection.takeIn()
        while let position = try connection.takeCopied({ try Self.end(of: $0) }) {
            due.append((nowNs + delayNs, position))
        }
        let answered = due.prefix { $0.atNs <= nowNs }
        if let position = answered.map(\.position).max(), position > 0 {
            try connection.sendCopied(ReplicationFeed.status(position))
        }
        due.removeFirst(answered.count)
        return due.first.map { Int32(clamping: ($0.atNs - nowNs + 999_999) / 1_000_000) } ?? 1_000
    }

    /// Returns the end of the log that a message carries: after its bytes, or as the server reports it.
    private static func end(of message: UnsafeRawBufferPointer) throws -> LogPosition {
        if message.first == UInt8(ascii: "w"), message.count >= 25 {
            let start = LogPosition(bigEndian: message.loadUnaligned(fromByteOffset: 1, as: LogPosition.self))
            return start + LogPosition(message.count - 25)
        }
        guard case .keepAlive(let end, _) = try ReplicationMessage(message) else { return 0 }
        return end
    }
}
