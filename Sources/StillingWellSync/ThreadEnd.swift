// Actions that run on a thread when it ends, for objects that belong to the thread and may outlive it.
//
// The lock guards only the list. Actions run, and are released, without it.
import CStillingWellPlatform
import StillingWellBasis

/// The actions of one thread. They run in a destructor of thread-specific data, while the thread's run loop still
/// exists.
public final class ThreadEnd: Sendable {
    private struct Action {
        let key: ObjectIdentifier?
        let body: @Sendable () -> Void
    }

    private let actions = PlainMutex<[Action]>([])
    /// Used by the thread itself.
    private let node = InlineCell(cp_thread_end())

    private init() {}

    /// The actions of the calling thread.
    public static var ofThisThread: ThreadEnd {
        if let known = cp_thread_end_context(ended) { return ObjectPointer.object(known) }
        let new = ThreadEnd()
        new.node.address.pointee.ended = ended
        new.node.address.pointee.context = ObjectPointer.kept(new)
        cp_add_thread_end(new.node.address)
        return new
    }

    private static let ended: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        ObjectPointer.take(context!, as: ThreadEnd.self).run()
    }

    /// Adds an action. On the thread itself.
    /// - Parameters:
    ///   - key: the object that the action is for, to remove it by.
    ///   - body: must not retain that object.
    public func add(_ key: ObjectIdentifier? = nil, _ body: @escaping @Sendable () -> Void) {
        actions.with { $0.append(Action(key: key, body: body)) }
    }

    /// Removes an action, unless it is already running. Any thread.
    public func remove(_ key: ObjectIdentifier) {
        let removed = actions.with { actions in
            actions.lastIndex { $0.key == key }.map { actions.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    /// Runs the actions, the last one added first.
    private func run() { while let last = actions.with({ $0.popLast() }) { last.body() } }
}
