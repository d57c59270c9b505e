// Criterion for a metric: the direction that is worse and the difference that matters. Pure.
import Glibc
import TidegaugeSpec
import TidegaugeStatistics

/// Criterion for one statistic of one metric.
public struct Criterion: Sendable, Equatable {
    /// Transformation of a pair's two values.
    public enum Scale: Sendable, Equatable {
        /// ln(head / base).
        case ratio
        /// ln((head + 1) / (base + 1)), because counts may be 0.
        case count
        /// head − base in the metric's unit, if a side is ≤ 0 and has no ratio.
        case difference
    }

    public var worse: MetricEntry.Worse
    public var scale: Scale
    /// Smallest effect that matters, as a share of the base, or in `unit` for a difference.
    public var threshold: Double
    public var unit: String
    /// Whether the figure is counted: see `MetricEntry.Kind`.
    public var isCounted: Bool

    /// Creates the criterion. For an unknown metric, more is worse.
    public init(metric name: String, statistic: String) {
        let entry = Metric(rawValue: name)?.entry
        worse = entry?.worse ?? .more
        scale = entry?.kind == .event ? .count : .ratio
        isCounted = entry?.kind.isCounted ?? false
        threshold = entry?.kind.threshold(statistic: statistic) ?? 0.05
        unit = entry?.unit.rawValue ?? ""
    }

    public init(_ name: FigureName) { self.init(metric: name.metric, statistic: name.statistic) }

    /// Threshold on the scale of the effect.
    public var delta: Double { scale == .difference ? threshold : log1p(threshold) }

    /// Returns the criterion on a scale that is valid for all `values` of both sides. A time can be negative (a
    /// callback that began before its commit returned), and so can a cost (a difference of trials). Then differences
    /// are compared, and the threshold is the same share of the median magnitude, for times at least three clock
    /// readings. Exchanging the sides of a pair changes neither, so the test keeps its α.
    public func fitting(_ values: [Double]) -> Criterion {
        guard scale == .ratio, values.contains(where: { $0 <= 0 }) else { return self }
        var fitted = self
        fitted.scale = .difference
        let leastNs = unit.hasPrefix("ns") ? Self.leastDifferenceNs : 0
        fitted.threshold = max(threshold * (median(values.map(abs)) ?? 0), leastNs)
        return fitted
    }

    /// Three clock readings of about 30 ns each.
    private static let leastDifferenceNs = 100.0

    /// Returns a pair's logarithm or difference, above 0 if the head is worse (or higher, if neither is worse).
    /// Returns nil if the values have no logarithm.
    public func worsening(base: Double, head: Double) -> Double? {
        let sign = worse == .less ? -1.0 : 1.0
        switch scale {
        case .count: return base >= 0 && head >= 0 ? sign * log((head + 1) / (base + 1)) : nil
        case .ratio: return base > 0 && head > 0 ? sign * log(head / base) : nil
        case .difference: return sign * (head - base)
        }
    }

    /// Converts a ratio of quantiles to a change of the figure.
    func interval(_ ratio: (estimate: Double, interval: LocationInterval)) -> ComparedRow.Interval {
        let sign = worse == .less ? -1.0 : 1.0
        return .init(
            change: change(sign * ratio.estimate), low: change(sign * ratio.interval.low),
            high: change(sign * ratio.interval.high))
    }

    /// Converts an effect to a change of the figure: +0.05 is 5 % more, whichever direction is worse. A difference is
    /// in the metric's unit.
    public func change(_ worsening: Double) -> Double {
        let more = worse == .less ? -worsening : worsening
        return scale == .difference ? more : expm1(more)
    }
}
