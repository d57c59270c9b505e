// Passes changes from a connection to the one task that asks for them. Holds at most one element: a new one is merged
// with the one that waits.
import StillingWellBasis
import StillingWellSync

final class ChangeChannel<Pending: Sendable>: Sendable {
    typealias Taken = Result<Pending?, StoreError>

    private struct State {
        var pending: Pending?
        var waiting: CheckedContinuation<Taken, Never>?
        var end: StoreError??
        var onEnd: (@Sendable () -> Void)?
    }

    /// No other lock is taken while this one is held. Displaced elements are released, and the task resumed, after it
    /// is unlocked.
    private let state = Guarded("change sequence", State())
    private let merge: @Sendable (Pending, Pending) -> Pending

    /// - Parameter merge: merges the waiting element with a new one. Runs under the lock, so it must be quick.
    init(merge: @escaping @Sendable (Pending, Pending) -> Pending) { self.merge = merge }

    func offer(_ new: Pending) {
        let (task, displaced) = state.withLock { state -> (CheckedContinuation<Taken, Never>?, Pending?) in
            if state.end != nil { return (nil, nil) }
            if let waiting = state.waiting.take() { return (waiting, nil) }
            let displaced = state.pending
            state.pending = displaced.map { merge($0, new) } ?? new
            return (nil, displaced)
        }
        withExtendedLifetime(displaced) {}
        task?.resume(returning: .success(new))
    }

    /// Ends the sequence. A pending element is still handed out, then nil or `error`. Any thread, any number of times.
    /// - Parameter dropping: whether to discard the pending element.
    func finish(_ error: StoreError? = nil, dropping: Bool = false) {
        let (task, onEnd, displaced) = state.withLock { state in
            if state.end == nil { state.end = .some(error) }
            return (state.waiting.take(), state.onEnd.take(), dropping ? state.pending.take() : nil)
        }
        withExtendedLifetime(displaced) {}
        task?.resume(returning: Self.ended(error))
        onEnd?()
    }

    /// Sets the closure to call once when the sequence ends. Calls it at once if it has ended.
    func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.end == nil { state.onEnd = body }
            return state.end != nil
        }
        if isOver { body() }
    }

    /// Returns the pending or the next element; nil or the error at the end. One task at a time. Cancelling the task
    /// ends the sequence.
    func take(isolation actor: isolated (any Actor)?) async -> Taken {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                let known = state.withLock { state -> Taken? in
                    if let pending = state.pending.take() { return .success(pending) }
                    if let end = state.end { return Self.ended(end) }
                    stopUnless(state.waiting == nil, "two tasks wait for one sequence of changes: make one for each")
                    state.waiting = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            finish(dropping: true)
        }
    }

    /// Ends the sequence when its last reference is released. The observer holds it, so that the sequence ends with the
    /// observer.
    final class Source: Sendable {
        let channel: ChangeChannel

        init(_ channel: ChangeChannel) { self.channel = channel }

        deinit { channel.finish() }
    }

    private static func ended(_ error: StoreError?) -> Taken { error.map { .failure($0) } ?? .success(nil) }
}
