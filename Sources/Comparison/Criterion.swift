// By what a metric is judged: which way is worse, and from where on a difference matters. Fixed before anything is measured.
// Pure.
import Scenario
import Statistics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The judgement of one statistic of one metric.
public struct Criterion: Sendable, Equatable {
    public enum Worse: String, Sendable, Codable {
        case more, less
        /// Neither: a shift is told and called neither good nor bad.
        case neither
    }

    /// What is made of a pair's two values.
    public enum Scale: Sendable, Equatable {
        /// ln(head / base).
        case ratio
        /// ln((head + 1) / (base + 1)): a count may be zero.
        case count
        /// head − base, in the metric's unit: where a side is at or under zero there is no ratio.
        case difference
    }

    public var worse: Worse
    public var scale: Scale
    /// A smaller effect than this does not matter; as a share of the base, or in `unit` where the scale is a difference.
    public var threshold: Double
    public var unit: String
    /// Of memory, pages and events: see `Metric.isCounted`.
    public var isCounted: Bool

    /// Of a metric that this binary does not know, more is taken to be worse.
    public init(metric name: String, statistic: String) {
        let metric = Metric(rawValue: name)
        worse = metric?.worse ?? .more
        scale = metric?.unit == "count" ? .count : .ratio
        isCounted = metric?.isCounted ?? false
        threshold = Self.threshold(metric, statistic)
        unit = metric?.unit ?? ""
    }

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

    /// Where samples are so few that they never decide.
    public static func mayGate(statistic: String) -> Bool { !["p99_9", "p99_99", "max", "min"].contains(statistic) }

    /// CPU and service time are counted on a core's own clock, or nearly; latencies wait for the machine besides; tails most.
    private static func threshold(_ metric: Metric?, _ statistic: String) -> Double {
        guard let metric else { return 0.05 }
        if metric.unit == "count" { return 0 }
        // Counters are exact but for what an allocator rounds and keeps.
        if metric.unit == "allocations/commit" || metric.unit == "bytes/commit" { return 0.01 }
        if ["p90", "p99", "p99_9", "p99_99", "max"].contains(statistic) { return 0.1 }
        return metric.unit == "ns/commit" || metric == .writeServiceTime ? 0.02 : 0.05
    }

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

    /// An effect on that scale as the change of the figure: +0.05 is 5 % more, whichever way is worse; of a difference, in
    /// the metric's unit.
    public func change(_ worsening: Double) -> Double {
        let more = worse == .less ? -worsening : worsening
        return scale == .difference ? more : expm1(more)
    }
}

extension Metric {
    var worse: Criterion.Worse {
        switch self {
        case .achievedRate, .observedRateRatio, .objectRate, .writerShareMin, .sustainableRate, .kneeRate,
            .scheduleStarted, .faultsCaught:
            .less
        case .coalescingRatio, .batchSpan: .neither
        default: .more
        }
    }

    /// Says something about the machine or about a trial's own end, and nothing about what is compared.
    public var isOfTheMachine: Bool {
        switch self {
        case .harnessHiccup, .harnessCost, .wakeFloor, .trialOutcome, .voidedTrials, .recordingCost, .recordingBytes,
            .oracleCost, .slowdownSeen:
            true
        default: false
        }
    }
}
