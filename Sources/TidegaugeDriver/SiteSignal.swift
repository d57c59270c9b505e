// The way to a delivery site from any thread, for drivers whose engine has none of its own: a handler that runs on the
// site soon after it was asked for, once however often it was asked.
//
// `isRaised` is an atomic. The handler is held by the signal and runs on the site alone.
import StillingWellSync
import Synchronization

/// Calls a handler on a site. `raise` and `invalidate` from any thread.
public final class SiteSignal: Sendable {
    private enum Target {
        case runLoop(RunLoopSignal)
        case queue(TracedQueue)
    }

    private let target: Target
    private let handler: @Sendable () -> Void
    private let isRaised = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    /// On the site: the run loop is that of the calling thread. The handler holds whatever it captures until the signal is
    /// gone, so it should hold the store weakly.
    /// - Parameter name: in reports of waits.
    public init(_ site: DeliverySite, _ name: String, handler: @escaping @Sendable () -> Void) {
        self.handler = handler
        switch site {
        case .queue(let queue): target = .queue(TracedQueue(queue))
        case .runLoop: target = .runLoop(RunLoopSignal(name, handler: handler))
        }
    }

    /// The handler runs soon; calls before it starts are one.
    public func raise() {
        switch target {
        case .runLoop(let signal): signal.signal()
        case .queue(let queue):
            guard !isRaised.exchange(true, ordering: .acquiringAndReleasing) else { return }
            queue.async { [self] in
                isRaised.store(false, ordering: .sequentiallyConsistent)
                if !isOver.load(ordering: .sequentiallyConsistent) { handler() }
            }
        }
    }

    /// The handler does not start again.
    public func invalidate() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        if case .runLoop(let signal) = target { signal.invalidate() }
    }
}
