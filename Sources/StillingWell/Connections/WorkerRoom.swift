// Tests whether libdispatch can start a thread. If the system starts none, libdispatch blocks its caller. The upkeep
// thread, which requests deliveries, must not block.
import Logging
import StillingWellSync
import Synchronization

/// Tests before each delivery of a scheduler that needs a libdispatch thread, until a test succeeds. Any thread.
final class WorkerRoom: Sendable {
    private enum State: Int { case unknown, there, missing }

    private let state = Atomic(State.unknown.rawValue)

    /// Whether the last test failed, so that a delivery waits for a thread.
    var isMissing: Bool { state.load(ordering: .relaxed) == State.missing.rawValue }

    /// Returns whether the system can start threads. Once true it stays true. Logs the first failure.
    func look(for place: String) -> Bool {
        if state.load(ordering: .relaxed) == State.there.rawValue { return true }
        let found = TracedThread.canStart ? State.there : .missing
        let before = state.exchange(found.rawValue, ordering: .relaxed)
        if found == .missing, before != found.rawValue {
            Logger(label: "stillingwell").error(
                """
                the first delivery on \(place) waits, because the system starts no thread that it could run on: end other threads, or \
                raise the limit of processes (ulimit -u)
                """)
        }
        return found == .there
    }
}
