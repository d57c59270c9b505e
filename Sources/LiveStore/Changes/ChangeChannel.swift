// Between the connection, which offers what is new, and the one task that asks for it. There is never more than one
// thing in it: what is offered while something waits is merged with that.
//
// `lock` (a leaf) guards everything mutable. What is displaced under it is released, and the task resumed, after it.
import TracedSync

final class ChangeChannel<Pending: Sendable>: @unchecked Sendable {
    typealias Taken = Result<Pending?, StoreError>

    private let lock = TracedMutex("change sequence")
    private var pending: Pending?
    private var waiting: CheckedContinuation<Taken, Never>?
    private var end: StoreError??
    private var onEnd: (@Sendable () -> Void)?
    private let merge: @Sendable (Pending, Pending) -> Pending

    /// - Parameter merge: makes one of what waits and what is new. O(1) or nearly: it runs under the lock.
    init(merge: @escaping @Sendable (Pending, Pending) -> Pending) { self.merge = merge }

    /// Never waits.
    func offer(_ new: Pending) {
        var displaced: Pending?
        let task = lock.withLock { () -> CheckedContinuation<Taken, Never>? in
            if end != nil { return nil }
            if let waiting {
                self.waiting = nil
                return waiting
            }
            displaced = pending
            pending = pending.map { merge($0, new) } ?? new
            return nil
        }
        withExtendedLifetime(displaced) {}
        task?.resume(returning: .success(new))
    }

    /// Ends the sequence: what is pending is still handed out, then nothing more, or `error`. Any thread, any number of
    /// times.
    /// - Parameter dropping: whether what is pending is not wanted any more.
    func finish(_ error: StoreError? = nil, dropping: Bool = false) {
        var displaced: Pending?
        let (task, onEnd) = lock.withLock { () -> (CheckedContinuation<Taken, Never>?, (@Sendable () -> Void)?) in
            if dropping {
                displaced = pending
                pending = nil
            }
            if end == nil { end = .some(error) }
            defer {
                waiting = nil
                self.onEnd = nil
            }
            return (waiting, self.onEnd)
        }
        withExtendedLifetime(displaced) {}
        task?.resume(returning: Self.ended(error))
        onEnd?()
    }

    /// What is to be done once, when the sequence ends; at once if it has ended.
    func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            if end == nil { onEnd = body }
            return end != nil
        }
        if isOver { body() }
    }

    /// What is pending, or what comes next; nil at the end. One task at a time. Cancelling the task ends the sequence.
    func take(isolation actor: isolated (any Actor)?) async -> Taken {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                let known = lock.withLock { () -> Taken? in
                    if let pending {
                        self.pending = nil
                        return .success(pending)
                    }
                    if let end { return Self.ended(end) }
                    precondition(waiting == nil, "two tasks wait for one sequence of changes: make one for each")
                    waiting = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            finish(dropping: true)
        }
    }

    private static func ended(_ error: StoreError?) -> Taken { error.map { .failure($0) } ?? .success(nil) }
}
