// Connections whose first delivery has not run, mostly on a thread without a running run loop. Upkeep thread
// only.
import Logging

struct UnservedPlaces {
    /// Time after which a delivery context without a first delivery is logged.
    static let patienceNs: Int64 = 5_000_000_000
    /// Minimum time between two checks.
    private static let intervalNs: Int64 = 1_000_000_000

    private var lastLookNs: Int64

    init(nowNs: Int64) { lastLookNs = nowNs }

    /// Posts again if a first delivery was held back.
    /// - Returns: one message for each connection whose first delivery has now waited too long.
    mutating func look(_ connections: some Sequence<ConnectedMailbox>, nowNs: Int64) -> [String] {
        let elapsedNs = nowNs - lastLookNs
        guard elapsedNs >= Self.intervalNs else { return [] }
        lastLookNs = nowNs
        // Limits the counted time, because no context runs while the whole process is suspended.
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
