// A distribution on its way out of a trial: from the child's result to a histogram log, and from there into a plot.
// Plain values.
import Scenario

/// One recorded distribution over events of one trial.
public struct HistogramRecord: Codable, Sendable, Equatable {
    public var metric: Metric
    /// From the start of the measured window.
    public var startNs: Int64
    public var lengthNs: Int64
    /// The highest sample or bound, exact, in the metric's unit.
    public var max: Int64
    /// Every sample, censored ones at their bound: compressed V2, base64.
    public var samples: String
    /// The censored ones alone, where there are any.
    public var bounds: String?

    public init(
        metric: Metric, startNs: Int64 = 0, lengthNs: Int64, max: Int64, samples: String, bounds: String? = nil
    ) {
        self.metric = metric
        self.startNs = startNs
        self.lengthNs = lengthNs
        self.max = max
        self.samples = samples
        self.bounds = bounds
    }
}

extension LatencyHistogram {
    /// What is handed on of it; `nil` when empty.
    public func record(for metric: Metric, lengthNs: Int64) -> HistogramRecord? {
        guard let max else { return nil }
        var everything = complete
        if let bounds { everything.add(bounds) }
        return HistogramRecord(
            metric: metric, lengthNs: lengthNs, max: max, samples: HistogramCode.encode(everything.indexedCounts()),
            bounds: bounds.map { HistogramCode.encode($0.indexedCounts()) })
    }
}

/// A distribution read back: what a plot of percentiles is drawn from.
public struct ValueDistribution: Sendable, Equatable {
    private var counts: [Int: UInt64] = [:]
    public private(set) var total: UInt64 = 0

    public init() {}

    /// Adds the samples of a record's text.
    /// - Throws: `HistogramCode.Damage` where it is none.
    public mutating func add(samples: String) throws(HistogramCode.Damage) {
        for (index, count) in try HistogramCode.decode(samples) {
            counts[index, default: 0] += count
            total += count
        }
    }

    /// Each bucket's highest value, with the samples at or under it; ascending.
    public func cumulative() -> [(value: Int64, samples: UInt64)] {
        var seen: UInt64 = 0
        return counts.sorted { $0.key < $1.key }.map { index, count in
            seen += count
            return (TimeWeightedHistogram.upperEdge(ofBucket: index), seen)
        }
    }
}
