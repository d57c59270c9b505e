// A site as a flawed store sees it: a way to have something done there, and a way to wait until it is done.
import StillingWellSync
import TidegaugeDriver

/// Any thread, but for `init`, which is on the site.
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

    /// What waiting for the site is waiting for.
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

    /// Also on the site itself, where it can only hang, or stop the process.
    func performAndWait(_ block: @escaping @Sendable () -> Void) {
        switch target {
        case .queue(let queue): queue.sync(block)
        case .runLoop(let loop): loop.performAndWait(block)
        }
    }

    func end() { if case .runLoop(let loop) = target { loop.invalidate() } }
}
