// Completion of a refresh. Signalled by upkeep when the connection's mail is at the requested version and has the first
// root or failure of each query, or when upkeep ends or cannot read the store.
import StillingWellSync

final class CaughtUp: Sendable {
    let isDone = Guarded("refresh", false)
    private let changed: TracedCondition

    init() { changed = TracedCondition("refresh", isDone) }

    func signal() {
        isDone.withLock {
            $0 = true
            changed.broadcast()
        }
    }

    /// - Parameter upkeep: the thread that will signal, for reports of waits.
    func wait(for upkeep: TracedResource?) { isDone.wait(for: changed, from: upkeep) { $0 } }
}
