// What a role's threads did per commit on both sides, counted once each and the base once more: that second count is what
// chance does to such figures, which is nearly nothing. Void rules and pairs have no part in it. Pure.
import TidegaugeMeasure
import TidegaugeSpec

/// One counted figure at one point of a scenario.
public struct CountedRow: Codable, Sendable, Equatable {
    /// A function whose instructions changed, per commit.
    public struct Cause: Codable, Sendable, Equatable {
        public var function: String
        /// Executed by itself, and by the runtime on its behalf.
        public var base: Double
        public var head: Double
        /// With everything it called.
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
    /// As the flag of the figures: `hardware` or `callgrind`.
    public var counter: String
    public var base: Double
    /// The base, counted a second time.
    public var again: Double
    public var head: Double
    /// The first is the one to look at; of regressions under callgrind.
    public var causes: [Cause] = []
    /// Chains of calls that grew most, outermost first, with what each grew by.
    public var paths: [String] = []
    /// The file of the difference's flame graph, in the comparison's folder.
    public var flameGraph: String?

    public init(
        scenario: String, driver: String, variant: String, metric: Metric, counter: String, base: Double, again: Double,
        head: Double
    ) {
        (self.scenario, self.driver, self.variant, self.metric) = (scenario, driver, variant, metric)
        (self.counter, self.base, self.again, self.head) = (counter, base, again, head)
    }

    /// Whether its numbers are such as counts have.
    public var isPlausible: Bool {
        let ofCauses = causes.flatMap { [$0.base, $0.head, $0.baseInclusive, $0.headInclusive] }
        return ([base, again, head] + ofCauses).allSatisfy(Figure.isPlausible)
    }

    /// As a share of the base; nil where the base did nothing.
    public var change: Double? { base > 0 ? head / base - 1 : nil }
    /// Between the two counts of the base.
    public var noise: Double? { base > 0 ? abs(again / base - 1) : nil }

    /// A change counts from the threshold on, and what the base differs from itself by is no change.
    public var verdict: Verdict {
        guard let change, let noise else { return head == base ? .unchanged : .inconclusive }
        let threshold = metric.entry.kind.threshold(statistic: Statistic.value.rawValue)
        if abs(change) <= threshold { return .unchanged }
        if abs(change) <= threshold + noise { return .inconclusive }
        return change > 0 ? .regressed : .improved
    }

    public var title: String { [scenario, driver, variant].filter { !$0.isEmpty }.joined(separator: " ") }
}
