// Tests of overlapping samples as stalls, for any bound.
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite struct StallAccountTests {
    private func stalls(_ account: StallAccount, beyondNs: Int64) -> UInt64 {
        let (slowest, joined) = account.counts()
        func beyond(_ buckets: BucketedWeights) -> UInt64 {
            buckets.buckets.filter { $0.upperEdge > beyondNs }.reduce(0) { $0 + $1.weight }
        }
        return beyond(slowest.weights()) - beyond(joined.weights())
    }

    private static let msNs: Int64 = 1_000_000

    @Test func samplesThatWaitForOneAnotherAreOneStall() {
        var account = StallAccount()
        for start in Int64(0)..<100 {
            account.add(fromNs: start * 2 * Self.msNs, lengthNs: (100 - start) * 2 * Self.msNs)
        }
        #expect(stalls(account, beyondNs: Self.msNs) == 1)
        #expect(stalls(account, beyondNs: 150 * Self.msNs) == 1)
        for start in Int64(0)..<10 { account.add(fromNs: (1_000 + start * 50) * Self.msNs, lengthNs: 20 * Self.msNs) }
        #expect(stalls(account, beyondNs: Self.msNs) == 11)
        #expect(stalls(account, beyondNs: 150 * Self.msNs) == 1)
        #expect(stalls(account, beyondNs: 1_000 * Self.msNs) == 0)
    }

    @Test func manyObserversOfACommitShareItsStall() {
        var parts = (LatencyHistogram(), LatencyHistogram())
        for commit in Int64(0)..<20 {
            let dueNs = commit * 100 * Self.msNs
            parts.0.record(dueNs, dueNs + 5 * Self.msNs, seenUntil: 0)
            parts.1.record(dueNs, dueNs + 7 * Self.msNs, seenUntil: 0)
        }
        parts.0.add(parts.1)
        #expect(parts.0.count == 40 && stalls(parts.0.stalls, beyondNs: Self.msNs) == 20)
    }

    @Test func aLongTrialIsKeptInBoundedMemory() {
        var account = StallAccount()
        for start in Int64(0)..<200_000 { account.add(fromNs: start * 3 * Self.msNs, lengthNs: Self.msNs / 2) }
        #expect(account.counts().slowest.totalCount <= 1 << 16)
        account.add(fromNs: .max, lengthNs: .max)
        account.add(fromNs: .min, lengthNs: -1)
        #expect(stalls(account, beyondNs: 1 << 62) == 1)
    }
}
