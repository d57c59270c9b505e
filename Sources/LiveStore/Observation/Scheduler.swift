// Where a connection lives: something that runs one block at a time and can be asked to run another from any thread.

/// A place where deliveries run. A custom one must run what it is given one at a time.
public protocol Scheduler: AnyObject, Sendable {
    /// Runs `deliver` soon on this scheduler. Called from any thread, also while an earlier request is outstanding.
    func post()
    /// What `post` runs. Set once, on the scheduler, before the first `post`.
    func setDelivery(_ deliver: @escaping @Sendable () -> Void)
    /// Ends deliveries; `post` does nothing from now on. Any thread.
    func invalidate()
    /// Whether the caller runs on this scheduler now.
    var isCurrent: Bool { get }
    /// For error messages, such as `queue 'feed'`.
    var name: String { get }
}
