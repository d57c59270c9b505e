// A scheduler whose turns a test takes itself, so that what lies between a commit and its delivery can be looked at.
import LiveStore

/// Delivers when `turn()` is called, on the one thread that uses the connection.
final class ManualScheduler: Scheduler, @unchecked Sendable {
    private let posts = Watched(0)
    private var deliver: (@Sendable () -> Void)?
    let name = "a test"
    let isCurrent = true

    func post() { posts.update { $0 += 1 } }
    func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }
    func invalidate() {}

    /// Waits for a request, then delivers.
    func turn() throws {
        try posts.wait("mail") { $0 > 0 }
        posts.update { $0 = 0 }
        deliver?()
    }

    /// Waits for a request, and leaves it.
    func waitForMail() throws { try posts.wait("mail") { $0 > 0 } }

    /// Delivers what is there; nothing is waited for.
    func turnNow() { deliver?() }

    /// Takes turns until `condition` holds.
    func turn(until condition: () -> Bool) throws { while !condition() { try turn() } }
}
