// The end of a refresh: upkeep signals it when the connection's mail stands at the version asked for and has all first roots. It
// signals and goes on, and never waits for the connection.
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
