// How percentiles are read off bucketed samples, honestly: refused where too few samples carry them, and bounded where
// samples are known only to be "at least" something. Shared by the histograms over events and over time.
import Scenario

extension Statistic {
    /// For a percentile p, the n in "one sample in n lies beyond it": 100 for p99. `nil` for other statistics.
    var tailDenominator: UInt64? {
        switch self {
        case .p50: 2
        case .p90: 10
        case .p99: 100
        case .p99_9: 1_000
        case .p99_99: 10_000
        case .min, .max, .mean, .count, .value, .slope, .low, .high: nil
        }
    }
}

/// Percentiles need so many samples beyond them: with fewer, one sample more or less moves the figure.
let samplesBeyondPercentile = 10

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
