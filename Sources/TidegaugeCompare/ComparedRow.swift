// One line of a comparison: a figure on both sides, the effect, and what is said of it. Pure.

public struct ComparedRow: Codable, Sendable, Equatable {
    /// A figure over all points of the sweep, each weighing the same.
    public static let overSweep = "*"

    public var scenario: String
    public var driver: String
    public var variant: String
    public var name: FigureName
    public var unit: String
    public var isGate: Bool
    public var verdict: Verdict
    /// What there is to know about the verdict, as words: `confirmed`, `not confirmed`, `noisy machine`, …
    public var remark: String
    /// Medians over the pairs.
    public var base: Double?
    public var head: Double?
    /// Whether change, interval, threshold and detectable effect are differences in `unit`: values at or under zero have no
    /// ratio.
    public var isDifference: Bool
    /// As changes of the figure: 0.05 is 5 % more, or, of a difference, 0.05 of the unit.
    public var change: Double?
    public var low: Double?
    public var high: Double?
    public var threshold: Double
    /// The smallest change that so many pairs show in four of five comparisons.
    public var detectable: Double?
    public var pairs: Int
    /// One-sided, that the head is worse; of either direction where neither is.
    public var pValue: Double?
    /// The same over all figures that do not gate (Benjamini–Hochberg).
    public var qValue: Double?
    /// The pairs that would decide an open row, as noisy as those that there are.
    public var pairsToDecide: Int?
    /// What the judge goes by: p of either direction, and the effect as a logarithm that is above zero where it is worse.
    var pEither: Double?
    var worsening: Double?
    var delta: Double?
    /// Merged samples of all pairs: the same change with its interval, where the figure is a tail.
    public var merged: Interval?

    public struct Interval: Codable, Sendable, Equatable {
        public var change: Double
        public var low: Double
        public var high: Double
    }

    /// Before anything is known of it.
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

    /// Whether it belongs where only what changed is shown.
    public var isNews: Bool { isDecided && verdict != .unchanged }

    /// Whether its pairs say how it stands.
    public var isDecided: Bool { verdict != .inconclusive && verdict != .suspected }
}
