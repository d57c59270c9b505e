// A sink that any thread can turn off. It is for drivers whose engine checks for cancellation and calls the sink in
// two steps: here both are one atomic step.
import Synchronization

/// Forwards to a sink until cancelled. `deliver` runs on the delivery context, one call at a time; `cancel` on any
/// thread.
public final class CancellableSink: DeliverySink {
    private enum State: Int, AtomicRepresentable { case idle, running, cancelled }

    private let state = Atomic<State>(State.idle)
    private let sink: any DeliverySink

    public init(_ sink: any DeliverySink) { self.sink = sink }

    /// Forwards the delivery unless cancelled.
    public func deliver(_ delivery: borrowing Delivery) {
        let start = state.compareExchange(
            expected: State.idle, desired: State.running, ordering: .acquiringAndReleasing)
        guard start.exchanged else { return }
        sink.deliver(delivery)
        _ = state.compareExchange(expected: State.running, desired: State.idle, ordering: .acquiringAndReleasing)
    }

    /// Forwards the error unless cancelled.
    public func fail(_ error: any Error) { if !isCancelled { sink.fail(error) } }

    /// No delivery starts once this has returned.
    public func cancel() { state.store(State.cancelled, ordering: .sequentiallyConsistent) }

    public var isCancelled: Bool { state.load(ordering: .sequentiallyConsistent) == State.cancelled }
}
