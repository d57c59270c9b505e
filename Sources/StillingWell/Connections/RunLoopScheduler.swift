// Delivery on the run loop of a thread, woken by a source of its own.
import CStillingWellPlatform
import Foundation
import StillingWellSync

/// Delivers on the run loop of the thread it was made on, in the common modes.
///
/// Unchecked because `signal` is set once, before anyone can post.
final class RunLoopScheduler: Scheduler, @unchecked Sendable {
    private var signal: RunLoopSignal?
    let name: String

    /// Uses the current thread's run loop. If nothing runs it, nothing is delivered, and a warning is logged.
    init() {
        let thread = Thread.current.name ?? ""
        // An unnamed thread has the program's name. The kernel's thread number is used for it, which a debugger shows
        // too.
        let isNamed = !thread.isEmpty && thread != String(ProcessInfo.processInfo.processName.prefix(15))
        let named = isNamed ? thread : "thread \(cp_thread_id())"
        name = "run loop of \(Thread.isMainThread ? "the main thread" : named)"
    }

    func setDelivery(_ deliver: @escaping @Sendable () -> Void) {
        signal = RunLoopSignal(name, handler: deliver)
    }

    func post() { signal?.signal() }
    func invalidate() { signal?.invalidate() }
    var isCurrent: Bool { signal?.isCurrent ?? true }
}
