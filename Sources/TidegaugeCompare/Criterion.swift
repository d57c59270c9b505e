// By what a metric is judged: which way is worse, and from where on a difference matters. Fixed before anything is measured.
// Pure.
import Glibc
import TidegaugeSpec
import TidegaugeStatistics

/// The judgement of one statistic of one metric.
public struct Criterion: Sendable, Equatable {
    /// What is made of a pair's two values.
    public enum Scale: Sendable, Equatable {
        /// ln(head / base).
        case ratio
        /// ln((head + 1) / (base + 1)): a count may be zero.
        case count
        /// head − base, in the metric's unit: where a side is at or under zero there is no ratio.
        case difference
    }

    public var worse: MetricEntry.Worse
    public var scale: Scale
    /// A smaller effect than this does not matter; as a share of the base, or in `unit` where the scale is a difference.
    public var threshold: Double
    public var unit: String
    /// Of memory, pages and events: see `MetricEntry.Kind`.
    public var isCounted: Bool

    /// Of a metric that this binary does not know, more is taken to be worse.
    public init(metric name: String, statistic: String) {
        let entry = Metric(rawValue: name)?.entry
        worse = entry?.worse ?? .more
        scale = entry?.kind == .event ? .count : .ratio
        isCounted = entry?.kind.isCounted ?? false
        threshold = entry?.kind.threshold(statistic: statistic) ?? 0.05
        unit = entry?.unit.rawValue ?? ""
    }

    public init(_ name: FigureName) { self.init(metric: name.metric, statistic: name.statistic) }

    /// The threshold on the scale of the effect.
    public var delta: Double { scale == .difference ? threshold : log1p(threshold) }

    /// This criterion on a scale that carries all `values`, of either side. A time may lie under zero (a callback begun before
    /// its commit returned) and so may a cost (one trial less another); their ratio to anything says nothing. Then the pairs
    /// are compared by difference, and what matters is the same share, of the median magnitude; of times not less than three
    /// readings of a clock. Exchanging the sides of any pair changes neither choice, so the test keeps its α.
    public func fitting(_ values: [Double]) -> Criterion {
        guard scale == .ratio, values.contains(where: { $0 <= 0 }) else { return self }
        var fitted = self
        fitted.scale = .difference
        let leastNs = unit.hasPrefix("ns") ? Self.leastDifferenceNs : 0
        fitted.threshold = max(threshold * (median(values.map(abs)) ?? 0), leastNs)
        return fitted
    }

    /// Three readings of the clock, of some 30 ns each.
    private static let leastDifferenceNs = 100.0

    /// A pair's logarithm or difference, above zero where the head is worse (or, where neither side is, higher). `nil` where
    /// the values have no logarithm.
    public func worsening(base: Double, head: Double) -> Double? {
        let sign = worse == .less ? -1.0 : 1.0
        switch scale {
        case .count: return base >= 0 && head >= 0 ? sign * log((head + 1) / (base + 1)) : nil
        case .ratio: return base > 0 && head > 0 ? sign * log(head / base) : nil
        case .difference: return sign * (head - base)
        }
    }

    /// A ratio of quantiles as the change of the figure.
    func interval(_ ratio: (estimate: Double, interval: LocationInterval)) -> ComparedRow.Interval {
        let sign = worse == .less ? -1.0 : 1.0
        return .init(
            change: change(sign * ratio.estimate), low: change(sign * ratio.interval.low),
            high: change(sign * ratio.interval.high))
    }

    /// An effect on that scale as the change of the figure: +0.05 is 5 % more, whichever way is worse; of a difference, in
    /// the metric's unit.
    public func change(_ worsening: Double) -> Double {
        let more = worse == .less ? -worsening : worsening
        return scale == .difference ? more : expm1(more)
    }
}
