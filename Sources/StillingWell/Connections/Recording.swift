// The recorder of a store, as commits and subscriptions ask for it: where there is none, they pay a load for that.
import StillingWellSync
import Synchronization

/// The recorder of a store, if there is one. Any thread.
final class Recording: Sendable {
    private let isOn = Atomic(false)
    private let state = Guarded<State>("recording", State())

    private struct State {
        /// The recorder that goes on. Held weakly: whoever began it has it.
        weak var recorder: WorkloadRecorder?
        /// Identity of that recorder, which a weak reference does not have any more while it is deinitialized.
        var owner: ObjectIdentifier?
        /// Whether a recorder is being made.
        var isReserved = false
    }

    var current: WorkloadRecorder? {
        isOn.load(ordering: .acquiring) ? state.withLock { $0.recorder } : nil
    }

    /// Begins a recording by the recorder that `make` makes.
    /// - Returns: nil if another recording goes on; `make` has not been called then.
    /// - Throws: what `make` throws.
    func begin(_ make: () throws -> WorkloadRecorder) throws -> WorkloadRecorder? {
        let isFree = state.withLock { state in
            if state.isReserved || state.owner != nil { return false }
            state.isReserved = true
            return true
        }
        guard isFree else { return nil }
        let made = Result { try make() }
        state.withLock { state in
            state.isReserved = false
            guard case .success(let recorder) = made else { return }
            (state.recorder, state.owner) = (recorder, ObjectIdentifier(recorder))
            isOn.store(true, ordering: .releasing)
        }
        return try made.get()
    }

    /// Ends the recording by a recorder. One that has ended already changes nothing.
    func end(_ recorder: ObjectIdentifier) {
        state.withLock { state in
            guard state.owner == recorder else { return }
            state.owner = nil
            isOn.store(false, ordering: .releasing)
        }
    }

    /// A query is going to be observed.
    /// - Returns: `body`, and what to do when it is observed no longer.
    func subscribed(
        _ query: ConnectionQuery, _ body: @escaping (DeliveredChange) -> Void
    ) -> (body: (DeliveredChange) -> Void, ended: (@Sendable () -> Void)?) {
        guard let current else { return (body, nil) }
        let number = current.subscribe(query.plan, query.table.schema)
        var known: Int?
        let told: (DeliveredChange) -> Void = { [weak current, unowned query] change in
            // How large it is, to within a factor of two.
            if let current, let count = query.delivered?.slice(query.window).count,
                known.map({ count > 2 * $0 || 2 * count < $0 }) ?? true
            {
                known = count
                current.found(number, count)
            }
            body(change)
        }
        return (told, { [weak current] in current?.drop(number) })
    }
}
