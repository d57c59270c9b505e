// A distribution of times. Three significant digits without an upper limit, because a limit would hide hangs. Censored
// samples, of which only a lower bound is known, are stored separately and decide whether a percentile is exact. A
// plain value: each thread has its own, and they are merged later.
import Histogram
import TidegaugeSpec

/// Counts samples in buckets, which raise a value by less than 0.1 %. Recording may allocate.
public struct LatencyHistogram: Sendable {
    /// Samples with known values.
    private(set) var complete = SignedHistogram()
    /// Lower bounds of the censored samples; `nil` if there are none.
    private(set) var bounds: Histogram<UInt64>?
    private var sum = 0.0
    private var minimum = Int64.max
    private var maximum = Int64.min

    /// Number of censored samples, included in `count`.
    public private(set) var censoredCount = 0
    /// Number of negative samples: a callback may be entered before the commit that it reports has returned. Clipping
    /// them to 0 would make a store look faster on slower machines.
    public private(set) var negativeCount = 0
    /// Overlaps of the samples that were recorded with times.
    private(set) var stalls = StallAccount()

    public init() {}

    /// Number of all samples, including censored ones.
    public var count: Int { Int(complete.count) + censoredCount }

    /// Adds `count` samples of the same value.
    public mutating func record(_ ns: Int64, count: Int = 1) {
        guard admit(ns, count: count) else { return }
        if ns < 0 { negativeCount += count }
        complete.record(ns, count: UInt64(count))
    }

    /// Adds a sample of which only a lower bound is known, such as a commit that was not covered when the run ended.
    /// Dropping it would hide hangs. A bound below 0 counts as 0.
    public mutating func recordCensored(_ atLeastNs: Int64) {
        let value = Swift.max(atLeastNs, 0)
        guard admit(value, count: 1) else { return }
        censoredCount += 1
        if bounds == nil { bounds = Histogram(numberOfSignificantValueDigits: .three) }
        bounds?.record(UInt64(value))
    }

    /// Adds the time between two events. If the second has not happened, adds a censored sample up to `endNs`.
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

// Reading. Iterates over all buckets, so it is for after the load.
extension LatencyHistogram {
    /// Lowest sample or bound, exact; `nil` if empty.
    public var min: Int64? { count > 0 ? minimum : nil }
    /// Highest sample or bound, exact; `nil` if empty.
    public var max: Int64? { count > 0 ? maximum : nil }
    /// Mean of samples and bounds, from their sum instead of buckets; `nil` if empty.
    public var mean: Double? { count > 0 ? sum / Double(count) : nil }

    /// A percentile and whether it is exact.
    public struct Percentile: Sendable, Equatable {
        /// Highest value of its bucket, but not more than the maximum.
        public var value: Int64
        /// Whether censored samples may raise it: then it is a lower bound, shown as `≥`.
        public var isLowerBound: Bool
    }

    /// Returns a percentile for any number of samples; `nil` if empty or if `statistic` is not a percentile.
    ///
    /// The percentile is lowest with all censored samples at their bound, and highest with all of them at infinity.
    /// If both agree, it is exact.
    public func percentile(_ statistic: Statistic) -> Percentile? {
        guard let denominator = statistic.tailDenominator, count > 0 else { return nil }
        let rank = percentileRank(tailDenominator: denominator, total: UInt64(count))
        guard let lowest = everything.weights().value(atRank: rank) else { return nil }
        let isKnown = bounds == nil || complete.weights().value(atRank: rank) == lowest
        return Percentile(value: Swift.min(lowest, maximum), isLowerBound: !isKnown)
    }

    /// Known samples, and censored ones at their bound.
    var everything: SignedHistogram {
        var everything = complete
        if let bounds { everything.add(SignedHistogram(positive: bounds)) }
        return everything
    }

    /// Returns percentiles, min, max, mean and count. Values that censored samples may raise have the flag `at_least`.
    /// - Parameter flags: flags of every figure.
    public func figures(for metric: Metric, flags: [FigureFlag] = []) -> [Figure] {
        let isCensored = censoredCount > 0
        // A censored sample is at least its bound, so the minimum is exact if a known sample has it.
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
