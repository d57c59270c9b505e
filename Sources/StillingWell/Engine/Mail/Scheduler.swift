// Delivery context of a connection: runs one block at a time and accepts requests from any thread.
import StillingWellBasis

/// A delivery context. The store provides contexts for a run loop, a serial queue and an actor. A program may pass its
/// own with `store.connect(on: .scheduler(mine))`.
///
/// Requirements:
/// - It runs one thing at a time: deliveries, and everything else that uses the connection.
/// - After each `post()` it runs the delivery block at least once. Order and number do not matter: a delivery takes
///   everything that is there, and one that finds nothing does nothing.
/// - `post()` neither waits nor delivers before it returns. It is called without locks held.
///
/// The connection retains its scheduler. A scheduler holds the connection weakly, through the delivery block.
public protocol Scheduler: AnyObject, Sendable {
    /// Runs the delivery block soon on this scheduler. Called from any thread, also while a request is outstanding.
    func post()
    /// Sets the block that `post` runs. Called once, on the scheduler, before the first `post`.
    func setDelivery(_ deliver: @escaping @Sendable () -> Void)
    /// Ends deliveries; `post` then does nothing. Any thread.
    func invalidate()
    /// Whether the caller runs on this scheduler now.
    var isCurrent: Bool { get }
    /// Stops the program with `misuse` unless the caller runs on this scheduler. Called only if `isCurrent` is false.
    /// Only the store's scheduler for actors implements it.
    func _checkIsCurrent(_ misuse: @autoclosure () -> String)
    /// Name for error messages, such as `queue 'feed'`.
    var name: String { get }
}

/// A scheduler whose `post()` may be unable to deliver. Until the first delivery has run, upkeep then posts again, at
/// most once per second.
protocol RetriedScheduler: Scheduler {
    /// Whether the last `post()` could not deliver.
    var isHeldBack: Bool { get }
}

extension Scheduler {
    /// Stops the program, because a reliable `isCurrent` was false.
    public func _checkIsCurrent(_ misuse: @autoclosure () -> String) { stopProgram(misuse()) }
}
