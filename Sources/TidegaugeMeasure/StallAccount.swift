// Samples that were under way at the same time: a stall delays all of them, and they say no more than one. A plain value; off
// the clock.
import Histogram
import TidegaugeSpec

/// The slowest sample of each moment, from which follows how many stalls the samples beyond any bound belong to.
struct StallAccount: Sendable {
    private struct Slowest {
        var fromNs: Int64
        var lengthNs: Int64
    }

    /// More moments are put together two by two.
    private static let mostMoments = 1 << 16

    /// A moment is so many powers of two long, in ns: a millisecond at first.
    private var shift: Int64 = 20
    private var slowest: [Int64: Slowest] = [:]

    mutating func add(fromNs: Int64, lengthNs: Int64) {
        keep(Slowest(fromNs: fromNs, lengthNs: max(lengthNs, 0)))
        while slowest.count > Self.mostMoments { coarsen(to: shift + 1) }
    }

    mutating func add(_ other: StallAccount) {
        if other.shift > shift { coarsen(to: other.shift) }
        for one in other.slowest.values { add(fromNs: one.fromNs, lengthNs: one.lengthNs) }
    }

    private mutating func keep(_ one: Slowest) {
        let moment = one.fromNs >> shift
        if let known = slowest[moment], known.lengthNs >= one.lengthNs { return }
        slowest[moment] = one
    }

    private mutating func coarsen(to wider: Int64) {
        let known = slowest.values
        (shift, slowest) = (wider, [:])
        for one in known { keep(one) }
    }

    /// What stalls are counted by at any bound: the slowest samples, and of each two that follow one another and overlap the
    /// quicker one. The stalls beyond a bound are as many as the former beyond it, less the latter.
    func counts() -> (slowest: Histogram<UInt64>, joined: Histogram<UInt64>) {
        var (all, joined) = (SignedHistogram(), SignedHistogram())
        var previous: Slowest?
        var reachedNs = Int64.min
        for one in slowest.values.sorted(by: { $0.fromNs < $1.fromNs }) {
            all.record(one.lengthNs, count: 1)
            if let previous, reachedNs > one.fromNs { joined.record(min(previous.lengthNs, one.lengthNs), count: 1) }
            let end = one.fromNs.addingReportingOverflow(one.lengthNs)
            reachedNs = max(reachedNs, end.overflow ? .max : end.partialValue)
            previous = one
        }
        return (all.positive, joined.positive)
    }
}
