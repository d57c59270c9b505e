// A distribution on its way out of a trial: from the child's result to a histogram log, and from there into a plot.
// Plain values.
import TidegaugeSpec

/// One recorded distribution over events of one trial.
public struct HistogramRecord: Codable, Sendable, Equatable {
    public var metric: Metric
    /// From the start of the measured window.
    public var startNs: Int64 = 0
    public var lengthNs: Int64
    /// The highest sample or bound, exact, in the metric's unit.
    public var max: Int64
    /// Every sample from zero up, censored ones at their bound: compressed V2, base64.
    public var samples: String
    /// Those under zero, as magnitudes, where there are any: the format knows no sign. nil from a binary that had none.
    public var negated: String?
    /// The largest of those magnitudes, exact.
    public var negatedMax: Int64?
    /// The censored ones alone, where there are any.
    public var bounds: String?
    /// The slowest sample of each moment, and of each two that overlap the quicker one (`StallAccount`). Nil of samples of which
    /// nobody told when they were under way.
    public var slowest: String?
    public var joined: String?

    /// Without what only limits are judged by.
    public var samplesAlone: HistogramRecord {
        var record = self
        (record.slowest, record.joined) = (nil, nil)
        return record
    }
}

extension LatencyHistogram {
    /// What is handed on of it; `nil` when empty.
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

/// A distribution read back: what a plot of percentiles is drawn from.
public struct ValueDistribution: Sendable, Equatable {
    /// By bucket; one of magnitudes under zero has the index −1 − that of its magnitudes, so that indices ascend with values.
    private var counts: [Int: UInt64] = [:]
    public private(set) var total: UInt64 = 0
    private static let mostSamples: UInt64 = 1 << 60

    public init() {}

    /// Adds the samples of a record's texts: those from zero up, and the magnitudes of those under it. Both or none.
    /// - Throws: `HistogramCode.Damage` where one is none.
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

    /// Samples of which each bucket's lowest and highest value are beyond a bound, so that none is beyond it by rounding alone.
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

    /// Each bucket's highest value, with the samples at or under it; ascending.
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
