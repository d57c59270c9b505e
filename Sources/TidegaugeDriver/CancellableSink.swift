// A sink that can be turned off from any thread, for drivers whose engine leaves a gap between asking whether a
// subscription is still wanted and calling it: here the two are one atomic step.
import Synchronization

/// Stands before a sink. Deliveries on the site, one at a time; `cancel` from any thread.
public final class CancellableSink: DeliverySink {
    private enum State: Int, AtomicRepresentable { case idle, running, cancelled }

    private let state = Atomic<State>(State.idle)
    private let sink: any DeliverySink

    public init(_ sink: any DeliverySink) { self.sink = sink }

    /// Passes the delivery on unless cancelled.
    public func deliver(_ delivery: borrowing Delivery) {
        let start = state.compareExchange(
            expected: State.idle, desired: State.running, ordering: .acquiringAndReleasing)
        guard start.exchanged else { return }
        sink.deliver(delivery)
        _ = state.compareExchange(expected: State.running, desired: State.idle, ordering: .acquiringAndReleasing)
    }

    /// Passes an error on unless cancelled.
    public func fail(_ error: any Error) { if !isCancelled { sink.fail(error) } }

    /// No delivery starts once this has returned.
    public func cancel() { state.store(State.cancelled, ordering: .sequentiallyConsistent) }

    public var isCancelled: Bool { state.load(ordering: .sequentiallyConsistent) == State.cancelled }
}
