// Recordings of a trial besides its figures. Plain values.
import TidegaugeSpec

/// Means and maxima of a quantity per interval of a window, which is a period of the monotonic clock.
public struct IntervalSeries: Sendable, Equatable {
    /// Interval of the steady-state test and of `series.csv`.
    public static let intervalNs: Int64 = 250_000_000

    public let startNs: Int64
    private let endNs: Int64
    private var sums: [Double]
    private var weights: [Double]
    private var highest: [Double]

    /// Creates a series for the window `startNs ..< endNs`. The last interval may be shorter.
    public init(startNs: Int64, endNs: Int64) {
        (self.startNs, self.endNs) = (startNs, endNs)
        let count = Int((endNs - startNs + Self.intervalNs - 1) / Self.intervalNs)
        sums = Array(repeating: 0, count: count)
        weights = sums
        highest = Array(repeating: -.infinity, count: count)
    }

    /// Number of complete intervals in the window.
    public var wholeCount: Int { Int((endNs - startNs) / Self.intervalNs) }

    /// Adds an event, unless it is outside the window.
    public mutating func add(atNs: Int64, value: Double) {
        guard atNs >= startNs, atNs < endNs else { return }
        let index = Int((atNs - startNs) / Self.intervalNs)
        sums[index] += value
        weights[index] += 1
        highest[index] = max(highest[index], value)
    }

    /// Adds a span in which the quantity was `value`, or grew from it by 1 per ns. Clipped to the window.
    public mutating func add(fromNs: Int64, untilNs: Int64, value: Int64, grows: Bool) {
        var nowNs = max(fromNs, startNs)
        var height = value + (grows ? nowNs - fromNs : 0)
        let lastNs = min(untilNs, endNs)
        while nowNs < lastNs {
            let index = Int((nowNs - startNs) / Self.intervalNs)
            let stepNs = min(lastNs, startNs + Int64(index + 1) * Self.intervalNs) - nowNs
            let end = grows ? height + stepNs : height
            sums[index] += Double(stepNs) * (Double(height) + Double(end)) / 2
            weights[index] += Double(stepNs)
            highest[index] = max(highest[index], Double(end))
            height = end
            nowNs += stepNs
        }
    }

    /// Means by interval; nil without data.
    public var means: [Double?] { zip(sums, weights).map { $1 > 0 ? $0 / $1 : nil } }
    public var maxima: [Double?] { highest.map { $0.isFinite ? $0 : nil } }
    /// Events per second, by interval.
    public var rates: [Double?] {
        weights.indices.map { index in
            let fromNs = startNs + Int64(index) * Self.intervalNs
            return weights[index] * 1e9 / Double(min(fromNs + Self.intervalNs, endNs) - fromNs)
        }
    }

    /// Returns means and maxima for the result.
    public func records(for metric: Metric) -> [SeriesRecord] {
        [SeriesRecord(metric, .mean, means), SeriesRecord(metric, .max, maxima)]
    }
}

/// A figure per interval of one trial, from the start of the measured window.
public struct SeriesRecord: Codable, Sendable, Equatable {
    public var metric: Metric
    public var statistic: Statistic
    public var intervalNs: Int64
    public var values: [Double?]

    public init(
        _ metric: Metric, _ statistic: Statistic, _ values: [Double?], intervalNs: Int64 = IntervalSeries.intervalNs
    ) {
        (self.metric, self.statistic, self.intervalNs, self.values) = (metric, statistic, intervalNs, values)
    }
}

/// An action of a thread in a trial, for a trace.
public struct TraceSpan: Codable, Sendable, Equatable {
    public var name: String
    public var thread: String
    /// Start in ns from the start of the measured window, or in a hang's record from its earliest event.
    public var startNs: Int64
    public var lengthNs: Int64
    public var version: Int64

    public init(name: String, thread: String, startNs: Int64, lengthNs: Int64, version: Int64) {
        (self.name, self.thread, self.startNs) = (name, thread, startNs)
        (self.lengthNs, self.version) = (lengthNs, version)
    }
}

/// Recordings of a trial besides its figures.
public struct TrialRecordings: Codable, Sendable, Equatable {
    public var histograms: [HistogramRecord] = []
    public var series: [SeriesRecord] = []
    public var trace: [TraceSpan] = []

    public init() {}
}
