// A promise about a figure: `upkeep_cost.value <= 50000` at some points of a sweep. Values and a pure judgement; who
// has the figures asks.

/// The `statistic` column.
public enum Statistic: String, Codable, Sendable, CaseIterable {
    case p50, p90, p99
    case p99_9
    case p99_99
    case min, max, mean, count, value, slope, low, high

    /// For a percentile p, the n in "one sample in n lies beyond it": 100 for p99. `nil` for other statistics.
    public var tailDenominator: UInt64? {
        switch self {
        case .p50: 2
        case .p90: 10
        case .p99: 100
        case .p99_9: 1_000
        case .p99_99: 10_000
        case .min, .max, .mean, .count, .value, .slope, .low, .high: nil
        }
    }

    /// The fewest samples that a percentile is read off: ten lie beyond it then. With fewer, one sample more or less moves
    /// the figure.
    public var neededSamples: UInt64? { tailDenominator.map { 10 * $0 } }
}

/// One entry of `limits`.
public struct Limit: Sendable, Hashable, Codable, CustomStringConvertible {
    public enum Comparison: String, Sendable, Codable, CaseIterable {
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case equal = "=="
        case less = "<"
        case greater = ">"
    }

    public var metric: Metric
    /// As in the `statistic` column.
    public var statistic: String
    public var comparison: Comparison
    /// In the metric's unit, or in multiples of `yardstick`; of a rate, so much in the time that the yardstick takes.
    public var bound: Double
    public var yardstick: Yardstick?
    /// The points it holds for, as canonical values by key (`["dataset.items": "100000"]`); empty: all of them.
    public var at: [String: String]

    public init(
        _ metric: Metric, statistic: String? = nil, _ comparison: Comparison, _ bound: Double,
        _ yardstick: Yardstick? = nil, at: [String: String] = [:]
    ) {
        self.yardstick = yardstick
        self.metric = metric
        self.statistic = statistic ?? metric.defaultStatistic
        (self.comparison, self.bound, self.at) = (comparison, bound, at)
    }

    /// Whether a figure keeps the promise. A figure that is no number keeps none.
    /// - Parameter yardstickNs: of the limit's yardstick; without one it is not looked at.
    public func holds(for value: Double, yardstickNs: Double = 1) -> Bool {
        let bound = boundInUnit(yardstickNs: yardstickNs)
        return switch comparison {
        case .less: value < bound
        case .lessOrEqual: value <= bound
        case .greater: value > bound
        case .greaterOrEqual: value >= bound
        case .equal: value == bound
        }
    }

    /// In the metric's unit.
    public func boundInUnit(yardstickNs: Double) -> Double {
        if yardstick == nil { return bound }
        return metric.isTime ? bound * yardstickNs : bound / yardstickNs * 1e9
    }

    /// Whether a figure of `variant` is meant: every key of `at` stands there with its value. A figure over the sweep
    /// (`*`) is meant by limits without `at`.
    public func applies(to variant: String) -> Bool {
        let values = Set(variant.split(separator: ";").map(String.init))
        return at.allSatisfy { values.contains("\($0.key)=\($0.value)") }
    }

    /// `upkeep_cost.value <= 50000 ns/commit at dataset.items=100000`.
    public var description: String { text(Quantity.text(bound) + (isPlain ? " \(metric.unit)" : "")) }

    /// The same for people: `upkeep_cost.value <= 50.0 µs at dataset.items=100000`.
    /// - Parameter digits: significant ones of the bound.
    public func text(digits: Int) -> String {
        guard isPlain else { return description }
        let bound = Humanised.text(bound, unit: metric.unit, digits: digits)
        return text(metric.isTime ? bound : "\(bound) \(metric.unit)")
    }

    /// Of a figure with a unit, in that unit.
    private var isPlain: Bool { yardstick == nil && metric.entry.unit != .one }

    private func text(_ bound: String) -> String {
        let multiple = yardstick.map { (metric.isTime ? " " : " per ") + $0.rawValue } ?? ""
        let place = at.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ";")
        return "\(metric.rawValue).\(statistic) \(comparison.rawValue) \(bound)\(multiple)"
            + (place.isEmpty ? "" : " at \(place)")
    }
}
