// A row of a comparison: a figure on both sides, the effect and the verdict. Pure.

public struct ComparedRow: Codable, Sendable, Equatable {
    /// Variant of a figure over all points of the sweep, with equal weights.
    public static let overSweep = "*"

    public var scenario: String
    public var driver: String
    public var variant: String
    public var name: FigureName
    public var unit: String
    public var isGate: Bool
    public var verdict: Verdict
    /// Remarks on the verdict, such as `confirmed on fresh pairs`.
    public var remark: String
    /// Medians of both sides over the pairs; nil for a figure over several points, or if the side lacks it.
    public var base: Double?
    public var head: Double?
    /// Whether change, interval, threshold and detectable effect are differences in `unit`, as values ≤ 0 have no
    /// ratio.
    public var isDifference: Bool
    /// Change of the figure: 0.05 is 5 % more or, for a difference, 0.05 of the unit. `low` to `high` is its interval.
    public var change: Double?
    public var low: Double?
    public var high: Double?
    public var threshold: Double
    /// Smallest change that this number of pairs detects in 80 % of comparisons.
    public var detectable: Double?
    public var pairs: Int
    /// One-sided p-value of the head being worse, or of either direction if neither is worse.
    public var pValue: Double?
    /// p-value of either direction, adjusted over all figures that are not gates (Benjamini–Hochberg).
    public var qValue: Double?
    /// Estimated number of pairs that would decide the row with this noise.
    public var pairsToDecide: Int?
    /// Input of the judge: p-value of either direction, the effect, which is above 0 if it is worse, and its threshold.
    var pEither: Double?
    var worsening: Double?
    var delta: Double?
    /// Change of the 99th percentile of the merged samples of all pairs, with its interval; for `p99` figures.
    public var merged: Interval?

    public struct Interval: Codable, Sendable, Equatable {
        public var change: Double
        public var low: Double
        public var high: Double
    }

    /// Creates a row without results.
    public init(
        scenario: String, driver: String, variant: String, name: FigureName, criterion: Criterion, isGate: Bool,
        pairs: Int
    ) {
        (self.scenario, self.driver, self.variant) = (scenario, driver, variant)
        (self.name, self.isGate, self.pairs) = (name, isGate, pairs)
        unit = criterion.unit
        threshold = criterion.threshold
        isDifference = criterion.scale == .difference
        verdict = .inconclusive
        remark = ""
    }

    /// Whether it is shown in lists of changes.
    public var isNews: Bool { isDecided && verdict != .unchanged }

    /// Whether the pairs decided it.
    public var isDecided: Bool { verdict != .inconclusive && verdict != .suspected }
}
