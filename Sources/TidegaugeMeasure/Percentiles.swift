// How percentiles are read off bucketed samples, honestly: refused where too few samples carry them, and bounded where
// samples are known only to be "at least" something. Shared by the histograms over events and over time.
import TidegaugeSpec

/// The figures of a distribution that rests on `n` samples: a percentile with fewer than ten beyond it has no value, and a value
/// that is a lower bound carries `at_least`.
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

/// Weights by value, ascending; `upperEdge` is the highest value that falls into the bucket.
struct BucketedWeights {
    private(set) var buckets: [(upperEdge: Int64, weight: UInt64)] = []
    private(set) var total: UInt64 = 0

    /// Buckets must come in ascending order; empty ones are skipped.
    mutating func append(upperEdge: Int64, weight: UInt64) {
        guard weight > 0 else { return }
        buckets.append((upperEdge, weight))
        total += weight
    }

    /// The value at a 1-based rank; `nil` beyond the last.
    func value(atRank rank: UInt64) -> Int64? {
        var seen: UInt64 = 0
        for bucket in buckets {
            seen += bucket.weight
            if seen >= rank { return bucket.upperEdge }
        }
        return nil
    }
}

/// The rank of a percentile among `total`: the smallest that at least the share p of all lies at or under.
func percentileRank(tailDenominator: UInt64, total: UInt64) -> UInt64 {
    // total − ⌊total / denominator⌋ is ⌈total × p⌉ for p = 1 − 1/denominator, without floating point.
    max(1, total - total / tailDenominator)
}
