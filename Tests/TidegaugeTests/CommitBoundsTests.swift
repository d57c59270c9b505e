// Tests of the earliest times at which deliveries of an engine can show commits, with replies and deliveries in any
// order.
import Testing

@testable import TidegaugeProcessDriver

@Suite struct CommitBoundsTests {
    private var bounds = CommitBounds()

    private mutating func isRefused(_ version: Int64, atNs: Int64, commitsWait: Bool = false) -> Bool {
        bounds.delivery(of: 1, version: version, atNs: atNs, commitsWait: commitsWait) != nil
    }

    private mutating func refusesCommit(_ version: Int64, begunNs: Int64, othersWait: Bool = false) -> Bool {
        bounds.commit(version, begunNs: begunNs, othersWait: othersWait) != nil
    }

    @Test mutating func aDeliveryAfterTheReplyIsBounded() {
        #expect(!isRefused(2, atNs: 0))
        #expect(!refusesCommit(2, begunNs: 100))
        #expect(isRefused(2, atNs: 99))
        #expect(isRefused(3, atNs: 99))
        #expect(!isRefused(2, atNs: 100))
        #expect(!isRefused(1, atNs: 50))
    }

    /// The engine delivers before it replies.
    @Test mutating func aDeliveryBeforeTheReplyIsBounded() {
        #expect(!isRefused(2, atNs: 99, commitsWait: true))
        #expect(refusesCommit(2, begunNs: 100))
        #expect(!isRefused(4, atNs: 200, commitsWait: true))
        #expect(!refusesCommit(5, begunNs: 300, othersWait: true))
        #expect(!refusesCommit(4, begunNs: 200))
        // No commit waited, so later ones cannot be shown by that delivery.
        #expect(!refusesCommit(3, begunNs: 400))
    }

    /// Commits of several writers begin in another order than the engine makes them.
    @Test mutating func aDeliveryShowsAllEarlierCommits() {
        #expect(!refusesCommit(3, begunNs: 50))
        #expect(!isRefused(3, atNs: 60))
        #expect(!refusesCommit(2, begunNs: 70))
        #expect(isRefused(3, atNs: 60))
        #expect(!isRefused(3, atNs: 70))
    }

    @Test mutating func aCommitWithoutChangesHasNoBound() {
        #expect(!refusesCommit(2, begunNs: 10))
        #expect(!isRefused(2, atNs: 20, commitsWait: true))
        #expect(!refusesCommit(2, begunNs: 30))
        #expect(!isRefused(2, atNs: 20))
    }

    @Test mutating func theLatestCommitsAreKept() {
        for version in 1...10_000 { #expect(!refusesCommit(Int64(version), begunNs: Int64(version) * 10)) }
        #expect(isRefused(10_000, atNs: 99_999))
        #expect(!isRefused(100, atNs: 1))
    }
}
