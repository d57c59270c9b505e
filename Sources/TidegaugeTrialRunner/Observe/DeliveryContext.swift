// A delivery context: a thread with a run loop or a serial queue, on which deliveries run. The harness owns it. `run`
// has a timeout, because a delivery context that never answers must be reported as a hang.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// One observing thread or queue. Any thread, but methods that wait must not be called on the context itself.
final class DeliveryContext: Sendable {
    private enum Place {
        case runLoop(RunLoopThread)
        case queue(TracedQueue)
    }

    let name: String
    private let place: Place

    init(_ name: String, _ deliver: ObserversSpec.Deliver) {
        self.name = name
        place =
            switch deliver {
            case .runLoop: .runLoop(RunLoopThread(name))
            case .queue: .queue(TracedQueue(name))
            }
    }

    /// This context as a driver gets it.
    var deliverySite: DeliverySite {
        switch place {
        case .runLoop: .runLoop
        case .queue(let queue): .queue(queue.queue)
        }
    }

    /// Runs `body` on this context, after its current work, and returns the result.
    /// - Throws: the error of `body`; `TrialFault.hang` if the context has not run it before a `HangDeadline` of
    ///   `timeoutNs` has passed.
    func run<Value: Sendable>(timeoutNs: Int64, _ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Guarded<Result<Value, any Error>?>("site hop", nil)
        let arrived = TracedCondition("site hop", outcome)
        perform {
            let result = Result { try body() }
            outcome.withLock {
                $0 = result
                arrived.broadcast()
            }
        }
        var deadline = HangDeadline(timeoutNs: timeoutNs)
        while true {
            let result = outcome.withLock(after: arrived, untilNs: deadline.endNs, once: { $0 != nil }) { $0 }
            if let result { return try result.get() }
            if deadline.hasPassed() {
                throw TrialFault.hang("\(name) has not taken a block for \(timeoutNs / 1_000_000) ms")
            }
        }
    }

    /// Runs `body` here asynchronously. Any thread.
    func perform(_ body: @escaping @Sendable () -> Void) {
        switch place {
        case .runLoop(let thread): thread.perform(body)
        case .queue(let queue): queue.async(body)
        }
    }

    /// Runs `body` here and waits for it without a timeout.
    func performAndWait(_ body: @escaping @Sendable () -> Void) {
        switch place {
        case .runLoop(let thread): try? thread.performAndWait(body)
        case .queue(let queue): queue.sync(body)
        }
    }

    /// Stops the thread, or waits until the queue has run its blocks.
    func stop() {
        switch place {
        case .runLoop(let thread): thread.stop()
        case .queue(let queue): queue.sync {}
        }
    }
}
