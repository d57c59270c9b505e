// A distribution as stored in a trial's result. Plain values.
import TidegaugeSpec

/// A recorded distribution of one trial.
public struct HistogramRecord: Codable, Sendable, Equatable {
    public var metric: Metric
    /// Start of the recording in ns from the start of the measured window.
    public var startNs: Int64 = 0
    public var lengthNs: Int64
    /// Highest sample or bound, exact, in the metric's unit.
    public var max: Int64
    /// All samples ≥ 0, censored ones at their bound: compressed V2 in base64.
    public var samples: String
    /// Magnitudes of the negative samples, because the format has no sign. nil without any, and from older binaries.
    public var negated: String?
    /// The largest of those magnitudes, exact.
    public var negatedMax: Int64?
    /// Bounds of the censored samples, or nil.
    public var bounds: String?
    /// `slowest`: the slowest sample of each moment. `joined`: for each of these that overlaps an earlier one, the
    /// faster of it and its predecessor. Limits count stalls from both (`StallAccount.counts`). Nil without times.
    public var slowest: String?
    public var joined: String?

    /// The record without `slowest` and `joined`.
    public var samplesAlone: HistogramRecord {
        var record = self
        (record.slowest, record.joined) = (nil, nil)
        return record
    }
}

extension LatencyHistogram {
    /// Returns the record of the histogram, or `nil` if it is empty.
    public func record(for metric: Metric, lengthNs: Int64) -> HistogramRecord? {
        guard let max, let min else { return nil }
        let everything = everything
        let stalls = stalls.counts()
        let tellsStalls = stalls.slowest.totalCount > 0
        return HistogramRecord(
            metric: metric, lengthNs: lengthNs, max: max,
            samples: HistogramCode.encode(everything.positive.indexedCounts()),
            negated: everything.negated.map { HistogramCode.encode($0.indexedCounts()) },
            negatedMax: min < 0 ? Int64(clamping: min.magnitude) : nil,
            bounds: bounds.map { HistogramCode.encode($0.indexedCounts()) },
            slowest: tellsStalls ? HistogramCode.encode(stalls.slowest.indexedCounts()) : nil,
            joined: tellsStalls ? HistogramCode.encode(stalls.joined.indexedCounts()) : nil)
    }
}

/// A decoded distribution, for plots of percentiles and for limits.
public struct ValueDistribution: Sendable, Equatable {
    /// Counts by bucket. A negative bucket has the index −1 − that of its magnitude, so that indices ascend with
    /// values.
    private var counts: [Int: UInt64] = [:]
    public private(set) var total: UInt64 = 0
    private static let mostSamples: UInt64 = 1 << 60

    public init() {}

    /// Adds the samples of a record's texts: samples ≥ 0 and magnitudes of negative ones. Adds both or none.
    /// - Throws: `HistogramCode.Damage` if a text is invalid, or if there are too many samples.
    public mutating func add(samples: String, negated: String? = nil) throws(HistogramCode.Damage) {
        let positive = try HistogramCode.decode(samples)
        var under: [(index: Int, count: UInt64)] = []
        if let negated { under = try HistogramCode.decode(negated) }
        let all = positive + under.map { (-1 - $0.index, $0.count) }
        let sum = all.reduce(total) { $0 + $1.1 }
        guard sum <= Self.mostSamples else { throw HistogramCode.Damage(description: "too many samples together") }
        for (index, count) in all { counts[index, default: 0] += count }
        total = sum
    }

    /// Number of samples in buckets that lie entirely beyond a bound, so that rounding cannot place a sample beyond it.
    public func count(beyond isBeyond: (Int64) -> Bool) -> Int {
        counts.reduce(0) { sum, entry in
            let magnitude = entry.key >= 0 ? entry.key : -1 - entry.key
            let sign: Int64 = entry.key >= 0 ? 1 : -1
            let edges = [
                TimeWeightedHistogram.lowerEdge(ofBucket: magnitude),
                TimeWeightedHistogram.upperEdge(ofBucket: magnitude),
            ]
            return edges.allSatisfy { isBeyond(sign * $0) } ? sum + Int(clamping: entry.value) : sum
        }
    }

    /// Returns the highest value of each bucket with the number of samples at or below it, ascending.
    public func cumulative() -> [(value: Int64, samples: UInt64)] {
        var seen: UInt64 = 0
        return counts.sorted { $0.key < $1.key }.map { index, count in
            seen += count
            let highest =
                index >= 0
                ? TimeWeightedHistogram.upperEdge(ofBucket: index)
                : -TimeWeightedHistogram.lowerEdge(ofBucket: -1 - index)
            return (highest, seen)
        }
    }
}
