// GRDB delivers on dispatch queues; a run loop that is not the main thread's serves none. This hands its deliveries to a
// run loop, in order.
import GRDB
import TracedSync

/// Of the run loop that it is made on. Any thread.
struct RunLoopObservationScheduler: ValueObservationScheduler {
    let loop = RunLoopHandOff("grdb delivery")

    func immediateInitialValue() -> Bool { false }
    func schedule(_ action: @escaping @Sendable () -> Void) { loop.perform(action) }
}
