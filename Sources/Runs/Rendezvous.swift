// Where the two sides of a pair that takes turns wait for one another before each of their trials: turns are worth
// something only while both are at work.
//
// `lock` guards everything.
import TracedSync

public final class Rendezvous: @unchecked Sendable {
    private let lock = TracedMutex("sides of a pair")
    private let changed: TracedCondition
    private var parties: Int
    private var arrived = 0
    private var meetings = 0

    public init(parties: Int) {
        self.parties = parties
        changed = TracedCondition("sides of a pair", lock)
    }

    /// Returns once all who have not left are here.
    public func meet() {
        lock.withLock {
            arrived += 1
            if arrived >= parties { return meetNow() }
            let meeting = meetings
            while meetings == meeting { changed.wait() }
        }
    }

    /// Nobody waits for the caller any more.
    public func leave() {
        lock.withLock {
            parties -= 1
            if arrived > 0, arrived >= parties { meetNow() }
        }
    }

    private func meetNow() {
        arrived = 0
        meetings += 1
        changed.broadcast()
    }
}
