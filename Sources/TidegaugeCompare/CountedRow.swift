// Counts of both sides: instructions per commit of a role's threads, or an engine's own counters. The base is counted
// twice: the difference is the noise. Void rules and pairs do not apply. Pure.
import TidegaugeMeasure
import TidegaugeSpec

/// A counted figure at one point of a scenario.
public struct CountedRow: Codable, Sendable, Equatable {
    /// A function whose instructions per commit grew.
    public struct Cause: Codable, Sendable, Equatable {
        public var function: String
        /// Instructions of the function itself and of runtime helpers on its behalf.
        public var base: Double
        public var head: Double
        /// Instructions including all callees.
        public var baseInclusive: Double
        public var headInclusive: Double

        public init(function: String, base: Double, head: Double, baseInclusive: Double, headInclusive: Double) {
            (self.function, self.base, self.head) = (function, base, head)
            (self.baseInclusive, self.headInclusive) = (baseInclusive, headInclusive)
        }
    }

    public var scenario: String
    public var driver: String
    public var variant: String
    public var metric: Metric
    /// Counter as in the figures' flag: `hardware`, `callgrind` or `engine`.
    public var counter: String
    public var base: Double
    /// Second count of the base.
    public var again: Double
    public var head: Double
    /// Functions that grew, most likely cause first; for regressions under callgrind.
    public var causes: [Cause] = []
    /// Call chains that grew most, outermost first, with their growth.
    public var paths: [String] = []
    /// File name of the flame graph in the comparison's folder.
    public var flameGraph: String?

    public init(
        scenario: String, driver: String, variant: String, metric: Metric, counter: String, base: Double, again: Double,
        head: Double
    ) {
        (self.scenario, self.driver, self.variant, self.metric) = (scenario, driver, variant, metric)
        (self.counter, self.base, self.again, self.head) = (counter, base, again, head)
    }

    /// Whether all numbers are plausible.
    public var isPlausible: Bool {
        let ofCauses = causes.flatMap { [$0.base, $0.head, $0.baseInclusive, $0.headInclusive] }
        return ([base, again, head] + ofCauses).allSatisfy(Figure.isPlausible)
    }

    /// Change as a share of the base; nil if the base is 0.
    public var change: Double? { base > 0 ? head / base - 1 : nil }
    /// Relative difference between the two counts of the base.
    public var noise: Double? { base > 0 ? abs(again / base - 1) : nil }

    /// Verdict. A change must exceed the threshold, and the noise in addition to be certain.
    public var verdict: Verdict {
        guard let change, let noise else {
            if head == base { return .unchanged }
            // An engine counts exactly, so what it did not do before is new.
            return metric.isOfEngine && again == base ? .regressed : .inconclusive
        }
        let threshold = metric.entry.kind.threshold(statistic: Statistic.value.rawValue)
        if abs(change) <= threshold { return .unchanged }
        if abs(change) <= threshold + noise { return .inconclusive }
        return change > 0 ? .regressed : .improved
    }

    public var title: String { [scenario, driver, variant].filter { !$0.isEmpty }.joined(separator: " ") }
}
