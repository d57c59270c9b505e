// Percentiles of bucketed samples: no value with too few samples, and a bound if samples are censored. Shared by
// histograms of events and of time.
import TidegaugeSpec

/// Returns the figures of a distribution with `n` samples. A percentile with fewer than ten samples beyond it has no
/// value. A lower bound has the flag `at_least`.
func distributionFigures(
    _ metric: Metric, n: Int, censored: Int = 0, flags: [FigureFlag], rest: [(Statistic, Double?, isLowerBound: Bool)],
    percentile: (Statistic) -> (value: Double, isLowerBound: Bool)?
) -> [Figure] {
    var values: [(Statistic, Double?, isLowerBound: Bool)] = []
    for statistic in Statistic.allCases {
        guard let needed = statistic.neededSamples else { continue }
        let known = UInt64(n) >= needed ? percentile(statistic) : nil
        values.append((statistic, known?.value, known?.isLowerBound ?? false))
    }
    return (values + rest).map { statistic, value, isLowerBound in
        let own: [FigureFlag] = isLowerBound && value != nil ? [.atLeast] : []
        return Figure(metric, statistic, value, n: n, censored: censored, flags: flags + own)
    }
}

/// Weights by value, ascending. `upperEdge` is the highest value of the bucket.
struct BucketedWeights {
    private(set) var buckets: [(upperEdge: Int64, weight: UInt64)] = []
    private(set) var total: UInt64 = 0

    /// Appends a bucket. Buckets must ascend; empty ones are skipped.
    mutating func append(upperEdge: Int64, weight: UInt64) {
        guard weight > 0 else { return }
        buckets.append((upperEdge, weight))
        total += weight
    }

    /// Value at a rank that counts from 1; `nil` beyond the last.
    func value(atRank rank: UInt64) -> Int64? {
        var seen: UInt64 = 0
        for bucket in buckets {
            seen += bucket.weight
            if seen >= rank { return bucket.upperEdge }
        }
        return nil
    }
}

/// Rank of a percentile among `total`: the smallest with at least the share p at or below it.
func percentileRank(tailDenominator: UInt64, total: UInt64) -> UInt64 {
    // total − ⌊total / denominator⌋ is ⌈total × p⌉ for p = 1 − 1/denominator, without floating point.
    max(1, total - total / tailDenominator)
}
