// A run loop for threads whose schedule is being explored. It uses sources and a traced condition, because waits on
// Core Foundation's descriptors cannot be scheduled.
//
// Handlers run without the lock, on the loop's thread.
import CStillingWellPlatform
import StillingWellSync

final class ExploredLoop: ControlledLoop {
    final class Source: LoopSource {
        /// Called on the loop's thread.
        let handler: DeliveryBound<() -> Void>

        init(_ handler: @escaping () -> Void) { self.handler = DeliveryBound(here: handler) }
    }

    private struct State {
        /// Sources in the order in which they were added.
        var sources: [Source] = []
        /// Sources that have been signalled.
        var signalled: Set<ObjectIdentifier> = []
        var isStopped = false
    }

    private let state = Guarded("explored run loop", State())
    private let changed: TracedCondition

    init() { changed = TracedCondition("explored run loop", state) }

    func add(_ handler: @escaping () -> Void) -> any LoopSource {
        let source = Source(handler)
        state.withLock { $0.sources.append(source) }
        return source
    }

    func signal(_ source: any LoopSource) {
        state.withLock { state in
            if state.sources.contains(where: { $0 === source }) { state.signalled.insert(ObjectIdentifier(source)) }
            changed.broadcast()
        }
    }

    func remove(_ source: any LoopSource) {
        state.withLock {
            $0.signalled.remove(ObjectIdentifier(source))
            $0.sources.removeAll { $0 === source }
        }
    }

    func stop() {
        state.withLock {
            $0.isStopped = true
            changed.broadcast()
        }
    }

    /// Calls handlers as they are signalled, until `stop()`.
    func run() {
        while true {
            let ready = state.withLock(after: changed, once: { $0.isStopped || !$0.signalled.isEmpty }) { state in
                defer { state.signalled = [] }
                return state.sources.filter { state.signalled.contains(ObjectIdentifier($0)) }
            }
            if ready.isEmpty { return }
            for source in ready where state.withLock({ $0.sources.contains { $0 === source } }) {
                source.handler.value()
            }
        }
    }
}
