// Groups samples that were in progress at the same time: a stall delays all of them, so they count as one. A plain
// value, used after the load.
import Histogram
import TidegaugeSpec

/// The slowest sample of each moment, from which the number of stalls beyond any bound is derived.
struct StallAccount: Sendable {
    private struct Slowest {
        var fromNs: Int64
        var lengthNs: Int64
    }

    /// Maximum number of moments; above it, pairs of moments are merged.
    private static let mostMoments = 1 << 16

    /// Logarithm to base 2 of a moment's length in ns: initially about 1 ms.
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

    /// Returns the slowest samples and, for each that overlaps an earlier one, the faster of it and its predecessor.
    /// The number of stalls beyond a bound is the number of the former beyond it minus that of the latter.
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
