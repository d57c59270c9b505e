// A sink that any thread can turn off.
import Synchronization

/// Forwards to a sink until cancelled. A delivery during another one is dropped.
public final class CancellableSink: DeliverySink {
    private enum State: Int, AtomicRepresentable { case idle, running, cancelled }

    private let state = Atomic<State>(State.idle)
    private let sink: any DeliverySink

    public init(_ sink: any DeliverySink) { self.sink = sink }

    public func deliver(_ delivery: borrowing Delivery) {
        let start = state.compareExchange(
            expected: State.idle, desired: State.running, ordering: .acquiringAndReleasing)
        guard start.exchanged else { return }
        sink.deliver(delivery)
        _ = state.compareExchange(expected: State.running, desired: State.idle, ordering: .acquiringAndReleasing)
    }

    /// Forwards the error unless cancelled.
    public func fail(_ error: any Error) { if !isCancelled { sink.fail(error) } }

    /// Drops later deliveries and errors. Any thread.
    public func cancel() { state.store(State.cancelled, ordering: .sequentiallyConsistent) }

    public var isCancelled: Bool { state.load(ordering: .sequentiallyConsistent) == State.cancelled }
}
