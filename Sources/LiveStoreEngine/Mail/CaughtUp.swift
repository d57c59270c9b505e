// What a refresh waits on: upkeep says when the connection's mail stands at the version asked for.
//
// `lock` guards `isDone`. Upkeep signals and goes on; it never waits for the connection.
import TracedSync

package final class CaughtUp: @unchecked Sendable {
    private let lock = TracedMutex("refresh")
    private let changed: TracedCondition
    private var isDone = false

    init() { changed = TracedCondition("refresh", lock) }

    func signal() {
        lock.withLock {
            isDone = true
            changed.broadcast()
        }
    }

    /// - Parameter upkeep: the thread that will signal, for reports of waits.
    func wait(for upkeep: TracedResource?) {
        lock.withLock {
            while !isDone { changed.wait(for: upkeep) }
        }
    }
}
