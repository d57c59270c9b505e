// Connections whose observers wait for a place that never runs anything: mostly a thread whose run loop nobody runs. Upkeep
// thread only, which looks now and then.
import Logging

struct UnservedPlaces {
    /// A place that has not had its first turn after so long gets a line in the log.
    static let patienceNs: Int64 = 5_000_000_000
    /// Between two looks.
    private static let intervalNs: Int64 = 1_000_000_000

    private var lastLookNs: Int64

    init(nowNs: Int64) { lastLookNs = nowNs }

    /// Posts again where a first delivery was held back.
    /// - Returns: the messages about connections whose first delivery has waited too long by now, one for each.
    mutating func look(_ connections: some Sequence<ConnectedMailbox>, nowNs: Int64) -> [String] {
        let elapsedNs = nowNs - lastLookNs
        guard elapsedNs >= Self.intervalNs else { return [] }
        lastLookNs = nowNs
        // Where the whole process stood still, nobody had a turn.
        let countedNs = min(elapsedNs, 2 * Self.intervalNs)
        var messages: [String] = []
        for connection in connections {
            guard connection.mailbox.awaitsFirstTurn else { continue }
            if connection.mailbox.isHeldBack { connection.mailbox.repost() }
            guard connection.unservedNs < Self.patienceNs else { continue }
            connection.unservedNs += countedNs
            if connection.unservedNs >= Self.patienceNs { messages.append(message(connection.mailbox.place)) }
        }
        return messages
    }

    private func message(_ place: String) -> String {
        """
        the first delivery on \(place) has waited for \(Self.patienceNs / 1_000_000_000) s: nothing is called there until it \
        runs; run the run loop (RunLoop.current.run(), or a RunLoopThread), or let a queue or an actor end what it is in
        """
    }
}
