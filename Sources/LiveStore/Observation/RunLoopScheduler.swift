// Delivery on the run loop of a thread, woken by a source of its own.
import Foundation
import TracedSync

/// Delivers on the run loop of the thread it was made on, in the common modes.
///
/// Unchecked because `signal` is set once, before anyone can post.
public final class RunLoopScheduler: Scheduler, @unchecked Sendable {
    private var signal: RunLoopSignal?
    public let name: String

    /// Uses the current thread's run loop; something must run it, or nothing is ever delivered.
    public init() {
        let thread = Thread.current.name ?? ""
        name = "run loop of \(Thread.isMainThread ? "the main thread" : thread.isEmpty ? "a thread" : thread)"
    }

    public func setDelivery(_ deliver: @escaping @Sendable () -> Void) {
        signal = RunLoopSignal(name, handler: deliver)
    }

    public func post() { signal?.signal() }
    public func invalidate() { signal?.invalidate() }
    public var isCurrent: Bool { signal?.isCurrent ?? true }
}
