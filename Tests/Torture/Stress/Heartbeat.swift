// Time of the last sign of life of one actor. The monitor reads it.
import Synchronization

final class Heartbeat: Sendable {
    let name: String
    private let lastNs: Atomic<Int64>

    init(_ name: String) {
        self.name = name
        lastNs = Atomic(monotonicNs())
    }

    func beat() { lastNs.store(monotonicNs(), ordering: .relaxed) }

    /// Marks the actor as finished.
    func end() { lastNs.store(.max, ordering: .relaxed) }

    func silentS(_ nowNs: Int64) -> Double {
        let last = lastNs.load(ordering: .relaxed)
        return last == .max ? 0 : Double(nowNs - last) / 1e9
    }
}
