// Access to a store's workload recorder. Without one, a write or subscription pays one atomic load.
import StillingWellSync
import Synchronization

/// The recorder of a store, if one is running. Any thread.
final class Recording: Sendable {
    private let isOn = Atomic(false)
    private let state = Guarded<State>("recording", State())

    private struct State {
        /// The running recorder. Weak: the code that started it owns it.
        weak var recorder: WorkloadRecorder?
        /// Identity of that recorder. Needed while it is deinitialized, when the weak reference is already nil.
        var owner: ObjectIdentifier?
        var isReserved = false
    }

    var current: WorkloadRecorder? {
        isOn.load(ordering: .acquiring) ? state.withLock { $0.recorder } : nil
    }

    /// Starts a recording with the recorder that `make` returns.
    /// - Returns: nil, without calling `make`, if a recording is already running or being started.
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

    /// Ends the recording of this recorder. Does nothing if it has already ended.
    func end(_ recorder: ObjectIdentifier) {
        state.withLock { state in
            guard state.owner == recorder else { return }
            state.owner = nil
            isOn.store(false, ordering: .releasing)
        }
    }

    /// Records that a query is about to be observed.
    /// - Returns: `body` wrapped to record the result's size, and a closure to call when observation ends. Without a
    ///   recorder, `body` and nil.
    func subscribed(
        _ query: ConnectionQuery, _ body: @escaping (DeliveredChange) -> Void
    ) -> (body: (DeliveredChange) -> Void, ended: (@Sendable () -> Void)?) {
        guard let current else { return (body, nil) }
        let number = current.subscribe(query.plan, query.table.schema)
        var known: Int?
        let told: (DeliveredChange) -> Void = { [weak current, unowned query] change in
            // Recorded again only if the size has more than doubled or fallen below half.
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
