// Signals a delivery context from any thread, for drivers whose engine has no such signal. The handler runs on the
// context soon after a request, once for all requests made before it starts.
import StillingWellSync
import Synchronization

/// Calls a handler on a delivery context. `raise` and `invalidate` may be called on any thread.
public final class SiteSignal: Sendable {
    private enum Target {
        case runLoop(RunLoopSignal)
        case queue(TracedQueue)
    }

    private let target: Target
    private let handler: @Sendable () -> Void
    private let isRaised = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    /// Creates the signal on the delivery context, because a run loop is that of the calling thread. The handler is
    /// retained until the signal is released, so it should hold the store weakly.
    /// - Parameter name: name of a run loop's signal in reports of waits. A queue has its own label there.
    public init(_ site: DeliverySite, _ name: String, handler: @escaping @Sendable () -> Void) {
        self.handler = handler
        switch site {
        case .queue(let queue): target = .queue(TracedQueue(queue))
        case .runLoop: target = .runLoop(RunLoopSignal(name, handler: handler))
        }
    }

    /// Schedules the handler. Calls before the handler starts are coalesced.
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

    /// Ends the signal. A call of the handler that is already under way may still start.
    public func invalidate() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        if case .runLoop(let signal) = target { signal.invalidate() }
    }
}
