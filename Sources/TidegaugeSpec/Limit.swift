// A limit on a figure: `upkeep_cost.value <= 50000` at some points of a sweep.

/// The `statistic` column.
public enum Statistic: String, Codable, Sendable, CaseIterable {
    case p50, p90, p99
    case p99_9
    case p99_99
    case min, max, mean, count, value, slope, low, high

    /// For a percentile p, the n in "one sample in n lies beyond it": 100 for p99. Nil for other statistics.
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

    /// Number of samples that a percentile requires: 10 must lie beyond it. Nil for other statistics.
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
    /// Value of the `statistic` column.
    public var statistic: String
    public var comparison: Comparison
    /// Bound in the limit's unit, or in multiples of `yardstick`. For a rate with a yardstick: events per yardstick
    /// time.
    public var bound: Double
    public var yardstick: Yardstick?
    /// Sweep points that the limit applies to, as canonical values by key (`["dataset.items": "100000"]`). Empty: all
    /// points.
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

    /// Returns whether a figure is within the limit. NaN never is.
    /// - Parameter yardstickNs: reading of the limit's yardstick; ignored if the limit has none.
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

    /// Unit of a bound without a yardstick.
    public var unit: MetricEntry.Unit { metric.unit(of: statistic) }

    /// Returns the bound in the limit's unit.
    public func boundInUnit(yardstickNs: Double) -> Double {
        if yardstick == nil { return bound }
        return unit.isTime ? bound * yardstickNs : bound / yardstickNs * 1e9
    }

    /// Returns whether the limit applies to a figure of `variant`: each entry of `at` must be part of it. A figure
    /// over a whole sweep (`*`) matches only limits without `at`.
    public func applies(to variant: String) -> Bool {
        let values = Set(variant.split(separator: ";").map(String.init))
        return at.allSatisfy { values.contains("\($0.key)=\($0.value)") }
    }

    /// `upkeep_cost.value <= 50000 ns/commit at dataset.items=100000`.
    public var description: String { text(Quantity.text(bound) + (isPlain ? " \(unit.rawValue)" : "")) }

    /// Formats the limit for people: `upkeep_cost.value <= 50.0 µs at dataset.items=100000`.
    /// - Parameter digits: number of significant digits of the bound.
    public func text(digits: Int) -> String {
        guard isPlain else { return description }
        let bound = Humanised.text(bound, unit: unit.rawValue, digits: digits)
        return text(unit.isTime ? bound : "\(bound) \(unit.rawValue)")
    }

    /// Whether the bound is printed with its unit.
    private var isPlain: Bool { yardstick == nil && unit != .one }

    private func text(_ bound: String) -> String {
        let multiple = yardstick.map { (unit.isTime ? " " : " per ") + $0.rawValue } ?? ""
        let place = at.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ";")
        return "\(metric.rawValue).\(statistic) \(comparison.rawValue) \(bound)\(multiple)"
            + (place.isEmpty ? "" : " at \(place)")
    }
}
