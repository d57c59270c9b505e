// Delivery on the run loop of a thread, woken by a source of its own.
import CStillingWellPlatform
import Foundation
import StillingWellSync

/// Delivers on the run loop of the thread it was made on, in the common modes.
///
/// Unchecked because `signal` is set once, before anyone can post.
public final class RunLoopScheduler: Scheduler, @unchecked Sendable {
    private var signal: RunLoopSignal?
    public let name: String

    /// Uses the current thread's run loop; something must run it, or nothing is ever delivered: the log says so after 5 s.
    public init() {
        let thread = Thread.current.name ?? ""
        // One without a name has its program's, and the kernel's number, by which a debugger knows it too.
        let isNamed = !thread.isEmpty && thread != String(ProcessInfo.processInfo.processName.prefix(15))
        let named = isNamed ? thread : "thread \(cp_thread_id())"
        name = "run loop of \(Thread.isMainThread ? "the main thread" : named)"
    }

    public func setDelivery(_ deliver: @escaping @Sendable () -> Void) {
        signal = RunLoopSignal(name, handler: deliver)
    }

    public func post() { signal?.signal() }
    public func invalidate() { signal?.invalidate() }
    public var isCurrent: Bool { signal?.isCurrent ?? true }
}
