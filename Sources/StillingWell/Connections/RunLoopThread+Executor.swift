// The run-loop thread under the store's name, and as an executor of actors.
import StillingWellBasis
import StillingWellSync

/// A thread with its own run loop, which runs until `stop()`. Use it for live objects off the main thread:
///
///     let thread = RunLoopThread("feed")
///     thread.perform { connection = try store.connect(on: .runLoop) … }
public typealias RunLoopThread = StillingWellSync.RunLoopThread

/// Lets a run-loop thread be an actor's executor. Such an actor runs on the thread and may connect with `.runLoop` as
/// well as `.actor(self)`.
extension RunLoopThread: SerialExecutor {
    /// Runs `job` on the thread, in order with its blocks. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Stops the program unless the caller runs on this thread.
    public func checkIsolated() {
        stopUnless(isCurrent, "code of a run-loop thread was called on \(CallerPlace.current.name)")
    }
}
