// Delivery on an actor with any executor. A request starts a task, unless the actor has been released or the system
// starts no thread. The order of the tasks does not matter, because a delivery does not belong to one request.
import StillingWellBasis
import Synchronization

/// Delivers on an actor, isolated to it. For the main actor as well, and for actors with an executor of their own.
///
/// The compiler checks that a connection stays with its actor, because it is not Sendable.
///
/// Unchecked because `deliver` is set once, before anyone can post, and `actor` is a weak reference, which is atomic.
final class ActorScheduler: RetriedScheduler, @unchecked Sendable {
    /// Weak, because the actor usually holds the connection.
    private weak var actor: (any Actor)?
    private let executorsActor: ExecutorActor?
    private let isValid = Atomic<Bool>(true)
    private let room = WorkerRoom()
    private var deliver: (@Sendable () -> Void)?
    let name: String

    /// Delivers on `actor`, without retaining it. Any thread; O(1).
    init(_ actor: any Actor) {
        self.actor = actor
        executorsActor = nil
        name = "actor \(type(of: actor))"
    }

    /// Delivers on a serial executor, through a private actor that runs on it. Any thread; O(1).
    init(executor: any SerialExecutor) {
        let actor = ExecutorActor(executor)
        self.actor = actor
        executorsActor = actor
        name = "executor \(type(of: executor))"
    }

    func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }

    var isHeldBack: Bool { room.isMissing }

    func post() {
        guard let actor, room.look(for: name) else { return }
        Task { [weak self] in await Self.run(self, on: actor) }
    }

    private static func run(_ scheduler: ActorScheduler?, on actor: isolated any Actor) {
        guard let scheduler, scheduler.isValid.load(ordering: .acquiring) else { return }
        scheduler.deliver?()
    }

    func invalidate() { isValid.store(false, ordering: .releasing) }

    /// Whether the actor has been released, so that no delivery can run any more.
    var isGone: Bool { actor == nil }

    /// Returns a test for whether its caller runs in the same task as this call. Returns nil outside of tasks.
    static var isInThisTask: (@Sendable () -> Bool)? {
        // Only compared, on any thread. While it is retained, no other task can have its address.
        nonisolated(unsafe) let task = withUnsafeCurrentTask { $0 }
        guard task != nil else { return nil }
        return { @Sendable in withUnsafeCurrentTask { $0 == task } }
    }

    /// Always false: Swift cannot query an actor's isolation. `_checkIsCurrent` checks it by a precondition.
    var isCurrent: Bool { false }

    func _checkIsCurrent(_ misuse: @autoclosure () -> String) {
        guard let actor else { stopProgram(misuse()) }
        actor.preconditionIsolated(misuse())
    }
}

private actor ExecutorActor {
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) { self.executor = executor }
}
