// The recorder of a store, as commits and subscriptions ask for it: where there is none, they pay a load for that.
import Synchronization
import TracedSync

/// The recorder of a store, if there is one. Any thread.
final class Recording: Sendable {
    private let isOn = Atomic(false)
    private let recorder = Guarded<Weak>("recording", Weak())

    /// Held weakly: whoever began it has it.
    private struct Weak {
        weak var recorder: WorkloadRecorder?
    }

    var current: WorkloadRecorder? {
        isOn.load(ordering: .acquiring) ? recorder.withLock { $0.recorder } : nil
    }

    /// False where one goes on already.
    func begin(_ new: WorkloadRecorder) -> Bool {
        recorder.withLock { state in
            if isOn.load(ordering: .relaxed), state.recorder != nil { return false }
            state.recorder = new
            isOn.store(true, ordering: .releasing)
            return true
        }
    }

    func end() { isOn.store(false, ordering: .releasing) }

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
