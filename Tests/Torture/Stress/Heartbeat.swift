// A sign of life of one actor, looked at by the monitor.
import Synchronization

final class Heartbeat: Sendable {
    let name: String
    private let lastNs: Atomic<Int64>

    init(_ name: String) {
        self.name = name
        lastNs = Atomic(monotonicNs())
    }

    func beat() { lastNs.store(monotonicNs(), ordering: .relaxed) }

    /// The actor has done its work.
    func end() { lastNs.store(.max, ordering: .relaxed) }

    func silentS(_ nowNs: Int64) -> Double {
        let last = lastNs.load(ordering: .relaxed)
        return last == .max ? 0 : Double(nowNs - last) / 1e9
    }
}
