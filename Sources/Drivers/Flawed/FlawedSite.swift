// A delivery context of a flawed store: runs blocks there, and waits for them.
import StillingWellSync
import TidegaugeDriver

/// Used by any thread, except for `init`, which runs on the delivery context.
final class FlawedSite: Sendable {
    private enum Target {
        case runLoop(RunLoopHandOff)
        case queue(TracedQueue)
    }

    private let target: Target
    let identity: ObjectIdentifier

    init(_ site: DeliverySite) {
        identity = site.identity
        switch site {
        case .queue(let queue): target = .queue(TracedQueue(queue))
        case .runLoop: target = .runLoop(RunLoopHandOff("flawed store"))
        }
    }

    /// The resource that a wait for the delivery context waits for.
    var resource: TracedResource {
        switch target {
        case .runLoop(let loop): loop.resource
        case .queue(let queue): queue.resource
        }
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        switch target {
        case .queue(let queue): queue.async(block)
        case .runLoop(let loop): loop.perform(block)
        }
    }

    /// Runs a block on the delivery context and waits for it. On the context itself this hangs or traps.
    func performAndWait(_ block: @escaping @Sendable () -> Void) {
        switch target {
        case .queue(let queue): queue.sync(block)
        case .runLoop(let loop): loop.performAndWait(block)
        }
    }

    func end() { if case .runLoop(let loop) = target { loop.invalidate() } }
}
