// A distribution over events: latencies, service times, batch spans. Three significant digits, no upper clamp (a clamp
// would hide a hang). Samples whose true value is only known to be at least something are kept apart and decide whether
// a percentile is a figure or a bound. A plain value: each thread has its own, merged afterwards.
import Histogram
import TidegaugeSpec

/// Counts samples in buckets no wider than 0.1 % of their value. Recording is O(1) and allocates only when a value is
/// beyond every earlier one.
public struct LatencyHistogram: Sendable {
    /// Samples whose value is known.
    private(set) var complete = SignedHistogram()
    /// Lower bounds of the samples whose value is not; `nil` while there are none, which is the usual case.
    private(set) var bounds: Histogram<UInt64>?
    private var sum = 0.0
    private var minimum = Int64.max
    private var maximum = Int64.min

    /// Samples whose true value is only known to be at least what was recorded; part of `count`.
    public private(set) var censoredCount = 0
    /// Samples under zero, which are what they are: a callback may be entered before the commit it reports has returned. Cut
    /// off at zero, the slower the machine the faster a store would look.
    public private(set) var negativeCount = 0
    /// When samples were under way, of those of which that was told.
    private(set) var stalls = StallAccount()

    public init() {}

    /// All samples, censored ones included.
    public var count: Int { Int(complete.count) + censoredCount }

    /// Adds `count` samples of the same value.
    public mutating func record(_ ns: Int64, count: Int = 1) {
        guard admit(ns, count: count) else { return }
        if ns < 0 { negativeCount += count }
        complete.record(ns, count: UInt64(count))
    }

    /// Adds one sample of which it is only known that it is not less than `atLeastNs`: a commit that was not covered
    /// when the run ended. Dropping it would make a hang look fast. A bound is a time that somebody has waited, so one under
    /// zero (a callback that began while the end was being noted) is one of nothing.
    public mutating func recordCensored(_ atLeastNs: Int64) {
        let value = Swift.max(atLeastNs, 0)
        guard admit(value, count: 1) else { return }
        censoredCount += 1
        if bounds == nil { bounds = Histogram(numberOfSignificantValueDigits: .three) }
        bounds?.record(UInt64(value))
    }

    /// Adds the time between two moments; if the second has not come, that it is later than `endNs`.
    package mutating func record(_ fromNs: Int64, _ untilNs: Int64?, seenUntil endNs: Int64) {
        if let untilNs { record(untilNs - fromNs) } else { recordCensored(endNs - fromNs) }
        stalls.add(fromNs: fromNs, lengthNs: (untilNs ?? endNs) - fromNs)
    }

    /// Adds all samples of `other`.
    public mutating func add(_ other: LatencyHistogram) {
        stalls.add(other.stalls)
        complete.add(other.complete)
        if let otherBounds = other.bounds {
            if bounds == nil { bounds = Histogram(numberOfSignificantValueDigits: .three) }
            bounds?.add(otherBounds)
        }
        sum += other.sum
        minimum = Swift.min(minimum, other.minimum)
        maximum = Swift.max(maximum, other.maximum)
        censoredCount += other.censoredCount
        negativeCount += other.negativeCount
    }

    private mutating func admit(_ value: Int64, count: Int) -> Bool {
        precondition(count >= 0, "a histogram cannot take a negative number of samples")
        guard count > 0 else { return false }
        sum += Double(value) * Double(count)
        minimum = Swift.min(minimum, value)
        maximum = Swift.max(maximum, value)
        return true
    }
}

// Reading. Walks all buckets: for after the clock has stopped.
extension LatencyHistogram {
    /// The lowest sample or bound; `nil` when empty. Exact.
    public var min: Int64? { count > 0 ? minimum : nil }
    /// The highest sample or bound; `nil` when empty. Exact.
    public var max: Int64? { count > 0 ? maximum : nil }
    /// Mean over samples and bounds, from their sum and not from buckets; `nil` when empty. Exact but for rounding.
    public var mean: Double? { count > 0 ? sum / Double(count) : nil }

    /// What a percentile is known to be.
    public struct Percentile: Sendable, Equatable {
        /// The highest value of the bucket it falls into.
        public var value: Int64
        /// Censored samples may push it up: the figure is a bound, printed `≥`.
        public var isLowerBound: Bool
    }

    /// A percentile, whatever the number of samples; `nil` when empty or when `statistic` is no percentile.
    ///
    /// With every censored sample at its bound the percentile is as low as it can be; with all of them at infinity, as
    /// high. Where both agree it is known in spite of them.
    public func percentile(_ statistic: Statistic) -> Percentile? {
        guard let denominator = statistic.tailDenominator, count > 0 else { return nil }
        let rank = percentileRank(tailDenominator: denominator, total: UInt64(count))
        guard let lowest = everything.weights().value(atRank: rank) else { return nil }
        let isKnown = bounds == nil || complete.weights().value(atRank: rank) == lowest
        return Percentile(value: Swift.min(lowest, maximum), isLowerBound: !isKnown)
    }

    /// Complete samples, and censored ones at their bound.
    var everything: SignedHistogram {
        var everything = complete
        if let bounds { everything.add(SignedHistogram(positive: bounds)) }
        return everything
    }

    /// Percentiles, min, max, mean and count. What censored samples may move carries `at_least`.
    /// - Parameter flags: put on every figure.
    public func figures(for metric: Metric, flags: [FigureFlag] = []) -> [Figure] {
        let isCensored = censoredCount > 0
        // A censored sample can be anything from its bound up, so the minimum is known if a complete sample is it.
        let minimumIsKnown =
            complete.count > 0 && (bounds == nil || complete.negated != nil || complete.positive.min <= bounds!.min)
        return distributionFigures(
            metric, n: count, censored: censoredCount,
            flags: flags + (negativeCount > 0 ? [.negative(samples: negativeCount)] : []),
            rest: [
                (.min, min.map { Double($0) }, !minimumIsKnown), (.max, max.map { Double($0) }, isCensored),
                (.mean, mean, isCensored), (.count, Double(count), false),
            ]
        ) { percentile($0).map { (Double($0.value), $0.isLowerBound) } }
    }
}
