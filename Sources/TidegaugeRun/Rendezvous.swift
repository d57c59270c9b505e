// Rendezvous of the two sides of an interleaved pair before each of their trials. Time slices need both to run.
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

    /// Waits until all parties that have not left have arrived.
    public func meet() {
        let meeting = state.withLock { state in
            state.arrived += 1
            defer { meetIfAllAreHere(&state) }
            return state.meetings
        }
        state.wait(for: changed) { $0.meetings != meeting }
    }

    /// Removes the caller from the parties.
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
