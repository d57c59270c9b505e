// A place where deliveries run: a thread with a run loop, or a serial queue, made and owned by the harness. Waiting for
// one is always bounded, because a site that never answers is a hang to report, not one to join.
import Foundation
import Measure
import Scenario
import StoreDriver
import TracedSync
import Trials

/// A run loop or a queue of the harness's own. Any thread.
enum DeliveryPlace: Sendable {
    case runLoop(RunLoopThread)
    case queue(TracedQueue)

    /// What a driver is told.
    var deliverySite: DeliverySite {
        switch self {
        case .runLoop: .runLoop
        case .queue(let queue): .queue(queue.queue)
        }
    }

    /// Runs `body` here some time.
    func perform(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .runLoop(let thread): thread.perform(body)
        case .queue(let queue): queue.async(body)
        }
    }
}

/// One observing thread or queue. Any thread but its own.
final class Site: Sendable {
    let name: String
    private let place: DeliveryPlace

    init(_ name: String, _ deliver: ObserversSpec.Deliver) {
        self.name = name
        place =
            switch deliver {
            case .runLoop: .runLoop(RunLoopThread(name))
            case .queue: .queue(TracedQueue(name))
            }
    }

    /// What a driver is told.
    var deliverySite: DeliverySite { place.deliverySite }

    /// Runs `body` here and returns its result, after whatever the site is doing now.
    /// - Throws: what `body` throws; `TrialFault.hang` when the site has not got round to it within `timeoutNs`, and nobody is
    ///   at work (`HangDeadline`).
    func run<Value: Sendable>(timeoutNs: Int64, _ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let hop = Hop<Value>()
        perform { hop.finish(Result { try body() }) }
        var deadline = HangDeadline(timeoutNs: timeoutNs)
        while true {
            if let outcome = hop.wait(untilNs: deadline.endNs) { return try outcome.get() }
            if deadline.hasPassed() {
                throw TrialFault.hang("\(name) has not taken a block for \(timeoutNs / 1_000_000) ms")
            }
        }
    }

    /// Runs `body` here some time. Any thread.
    func perform(_ body: @escaping @Sendable () -> Void) { place.perform(body) }

    /// Ends the site. Nothing runs on it afterwards.
    func stop() {
        switch place {
        case .runLoop(let thread): thread.stop()
        case .queue(let queue): queue.sync {}
        }
    }
}

/// One result on its way from one thread to another.
private final class Hop<Value: Sendable>: Sendable {
    private let outcome = Guarded<Result<Value, any Error>?>("site hop", nil)
    private let arrived: TracedCondition

    init() { arrived = TracedCondition("site hop", outcome) }

    func finish(_ value: Result<Value, any Error>) {
        outcome.withLock {
            $0 = value
            arrived.broadcast()
        }
    }

    func wait(untilNs deadlineNs: Int64) -> Result<Value, any Error>? {
        outcome.withLock(after: arrived, untilNs: deadlineNs, once: { $0 != nil }) { $0 }
    }
}
