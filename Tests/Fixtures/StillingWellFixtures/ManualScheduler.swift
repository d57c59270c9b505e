// A scheduler whose deliveries a test makes by hand, so that it can read the store between a commit and its delivery.
import Dispatch
import StillingWell
import StillingWellSync

/// Delivers when `turn()` or `turnNow()` is called, on the one thread that uses the connection.
public final class ManualScheduler: Scheduler, @unchecked Sendable {
    public struct Stuck: Error {}

    /// Time limit in ns that only a hang reaches.
    private static let limitNs: Int64 = 300_000_000_000
    private let lock = TracedMutex("test posts")
    private let changed: TracedCondition
    private var posts = 0
    private var deliver: (@Sendable () -> Void)?
    public let name = "a test"
    public let isCurrent = true

    public init() { changed = TracedCondition("test posts", lock) }

    public func post() {
        lock.withLock {
            posts += 1
            changed.broadcast()
        }
    }

    public func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }
    public func invalidate() {}

    /// Waits for a request, then delivers.
    /// - Throws: `Stuck` if none comes.
    public func turn() throws {
        try waitForMail()
        lock.withLock { posts = 0 }
        deliver?()
    }

    /// Waits for a request, without delivering.
    /// - Throws: `Stuck` if none comes.
    public func waitForMail() throws {
        let deadline = Int64(DispatchTime.now().uptimeNanoseconds) + Self.limitNs
        lock.lock()
        defer { lock.unlock() }
        while posts == 0 { if !changed.wait(untilNs: deadline) { throw Stuck() } }
    }

    /// Delivers without waiting for a request.
    public func turnNow() { deliver?() }

    /// Takes turns until `condition` holds.
    public func turn(until condition: () -> Bool) throws { while !condition() { try turn() } }
}
