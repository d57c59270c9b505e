// Between the connection, which offers what is new, and the one task that asks for it. There is never more than one
// thing in it: what is offered while something waits is merged with that.
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

    /// A leaf. What is displaced under it is released, and the task resumed, after it.
    private let state = Guarded("change sequence", State())
    private let merge: @Sendable (Pending, Pending) -> Pending

    /// - Parameter merge: makes one of what waits and what is new. O(1) or nearly: it runs under the lock.
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

    /// Ends the sequence: what is pending is still handed out, then nothing more, or `error`. Any thread, any number of
    /// times.
    /// - Parameter dropping: whether what is pending is not wanted any more.
    func finish(_ error: StoreError? = nil, dropping: Bool = false) {
        let (task, onEnd, displaced) = state.withLock { state in
            if state.end == nil { state.end = .some(error) }
            return (state.waiting.take(), state.onEnd.take(), dropping ? state.pending.take() : nil)
        }
        withExtendedLifetime(displaced) {}
        task?.resume(returning: Self.ended(error))
        onEnd?()
    }

    /// What is to be done once, when the sequence ends; at once if it has ended.
    func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.end == nil { state.onEnd = body }
            return state.end != nil
        }
        if isOver { body() }
    }

    /// What is pending, or what comes next; nil at the end. One task at a time. Cancelling the task ends the sequence.
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

    /// Ends the sequence when the last reference to this goes: with the observer that has it, as when its connection ends.
    final class Source: Sendable {
        let channel: ChangeChannel

        init(_ channel: ChangeChannel) { self.channel = channel }

        deinit { channel.finish() }
    }

    private static func ended(_ error: StoreError?) -> Taken { error.map { .failure($0) } ?? .success(nil) }
}
