// A place where deliveries run: a thread with a run loop, or a serial queue, made and owned by the harness. Waiting for
// one is always bounded, because a site that never answers is a hang to report, not one to join.
import Foundation
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// One observing thread or queue. Any thread but its own.
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

    /// What a driver is told.
    var deliverySite: DeliverySite {
        switch place {
        case .runLoop: .runLoop
        case .queue(let queue): .queue(queue.queue)
        }
    }

    /// Runs `body` here and returns its result, after whatever the site is doing now.
    /// - Throws: what `body` throws; `TrialFault.hang` when the site has not got round to it within `timeoutNs`, and nobody is
    ///   at work (`HangDeadline`).
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

    /// Runs `body` here some time. Any thread.
    func perform(_ body: @escaping @Sendable () -> Void) {
        switch place {
        case .runLoop(let thread): thread.perform(body)
        case .queue(let queue): queue.async(body)
        }
    }

    /// Runs `body` here and waits for it, however long it takes. Any thread.
    func performAndWait(_ body: @escaping @Sendable () -> Void) {
        switch place {
        case .runLoop(let thread): try? thread.performAndWait(body)
        case .queue(let queue): queue.sync(body)
        }
    }

    /// Ends the site. Nothing runs on it afterwards.
    func stop() {
        switch place {
        case .runLoop(let thread): thread.stop()
        case .queue(let queue): queue.sync {}
        }
    }
}
