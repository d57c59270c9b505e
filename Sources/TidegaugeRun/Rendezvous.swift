// Where the two sides of a pair that takes turns wait for one another before each of their trials: turns are worth
// something only while both are at work.
import StillingWellSync

public final class Rendezvous: Sendable {
    private struct State {
        var parties: Int
        var arrived = 0
        var meetings = 0
    }

    private let state: Guarded<State>
    private let changed: TracedCondition

    public init(parties: Int) {
        state = Guarded("sides of a pair", State(parties: parties))
        changed = TracedCondition("sides of a pair", state)
    }

    /// Returns once all who have not left are here.
    public func meet() {
        let meeting = state.withLock { state in
            state.arrived += 1
            defer { meetIfAllAreHere(&state) }
            return state.meetings
        }
        state.wait(for: changed) { $0.meetings != meeting }
    }

    /// Nobody waits for the caller any more.
    public func leave() {
        state.withLock {
            $0.parties -= 1
            meetIfAllAreHere(&$0)
        }
    }

    private func meetIfAllAreHere(_ state: inout State) {
        guard state.arrived > 0, state.arrived >= state.parties else { return }
        state.arrived = 0
        state.meetings += 1
        changed.broadcast()
    }
}
