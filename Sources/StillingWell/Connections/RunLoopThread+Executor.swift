// The ready-made thread with a run loop, under the store's own name, and as the executor of actors that live on it.
import StillingWellBasis
import StillingWellSync

/// A thread with a run loop of its own, kept alive until `stop()`. Live objects can be off the main thread on it:
///
///     let thread = RunLoopThread("feed")
///     thread.perform { connection = try store.connect(on: .runLoop) … }
public typealias RunLoopThread = StillingWellSync.RunLoopThread

/// An actor whose `unownedExecutor` is a run-loop thread's runs on that thread, and may connect `.runLoop` as well as
/// `.actor(self)`.
extension RunLoopThread: SerialExecutor {
    /// Runs `job` on the thread, in turn with its blocks. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Stops the program unless the caller runs on this thread.
    public func checkIsolated() {
        stopUnless(isCurrent, "code of a run-loop thread was called on \(CallerPlace.current.name)")
    }
}
