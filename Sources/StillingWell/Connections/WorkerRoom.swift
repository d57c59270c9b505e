// Whether libdispatch can be asked for a thread. It keeps its caller waiting for as long as the system starts none, and upkeep must wait
// for nobody.
import Logging
import StillingWellSync
import Synchronization

/// Looks before the first delivery of a scheduler that needs a thread of libdispatch's. Any thread.
final class WorkerRoom: Sendable {
    private enum State: Int { case unknown, there, missing }

    private let state = Atomic(State.unknown.rawValue)

    /// Whether a delivery waits for a thread.
    var isMissing: Bool { state.load(ordering: .relaxed) == State.missing.rawValue }

    /// Whether the system starts threads; true from the first time on that it does. Says so in the log once if it does not.
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
