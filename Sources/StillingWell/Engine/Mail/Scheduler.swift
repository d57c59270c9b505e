// Where a connection lives: something that runs one block at a time and can be asked to run another from any thread.
import StillingWellBasis

/// A place where deliveries run. The store has those of a run loop, a serial queue and an actor; a program may bring one
/// of its own with `store.connect(on: .scheduler(mine))`.
///
/// What a scheduler must keep to:
/// - it runs one thing at a time: deliveries, and everything else that uses the connection;
/// - after each `post()` it runs what it was given at least once. Order and number do not matter: a delivery takes all
///   that is there, and one that finds nothing does nothing;
/// - `post()` neither waits nor delivers before it returns. It is called by the store's upkeep and by whoever invalidates a
///   token, while they hold no lock.
///
/// The connection holds its scheduler; a scheduler holds the connection weakly, through what it was given.
public protocol Scheduler: AnyObject, Sendable {
    /// Runs `deliver` soon on this scheduler. Called from any thread, also while an earlier request is outstanding.
    func post()
    /// What `post` runs. Set once, on the scheduler, before the first `post`.
    func setDelivery(_ deliver: @escaping @Sendable () -> Void)
    /// Ends deliveries; `post` does nothing from now on. Any thread.
    func invalidate()
    /// Whether the caller runs on this scheduler now. False where that cannot be told; `checkIsCurrent` then decides.
    var isCurrent: Bool { get }
    /// Stops the program with `misuse` unless the caller runs on this scheduler. Asked only where `isCurrent` is false; a
    /// scheduler whose `isCurrent` can tell need not have it.
    func checkIsCurrent(_ misuse: @autoclosure () -> String)
    /// For error messages, such as `queue 'feed'`.
    var name: String { get }
}

/// A scheduler whose `post()` may find that nothing can be delivered now. Upkeep then posts again, once a second.
protocol RetriedScheduler: Scheduler {
    /// Whether the last `post()` came to nothing.
    var isHeldBack: Bool { get }
}

extension Scheduler {
    /// Stops the program: a scheduler whose `isCurrent` can tell has told already.
    public func checkIsCurrent(_ misuse: @autoclosure () -> String) { stopProgram(misuse()) }
}
