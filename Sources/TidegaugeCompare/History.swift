// Figures of a project over its commits, as logarithms of the ratio to a pinned anchor build that ran beside each
// commit, so that differences of machines and days mostly cancel. Pure.
import Glibc
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

/// A point: one figure of one commit.
public struct HistoryPoint: Codable, Sendable, Equatable {
    /// Version, raised when a field changes its meaning.
    public static let currentVersion = 1

    public var version = HistoryPoint.currentVersion
    public var commit: String
    /// Number of commits on its first-parent line, itself included, which orders the history.
    public var position: Int
    public var anchor: String
    public var scenario: String
    public var driver: String
    public var variant: String
    public var metric: String
    public var statistic: String
    /// ln(1 + `ComparedRow.change`) against the anchor. 0 if that is not known.
    public var logRatio: Double
    public var low: Double?
    public var high: Double?
    /// The commit's own figure, median over pairs. It depends on machine and day.
    public var value: Double?
    public var unit: String
    public var pairs: Int
    public var machine: String

    /// Creates the point of a gate that was compared with the anchor.
    public init(_ row: ComparedRow, commit: String, position: Int, anchor: String, machine: String) {
        (self.commit, self.position, self.anchor) = (commit, position, anchor)
        (scenario, driver, variant) = (row.scenario, row.driver, row.variant)
        (metric, statistic) = (row.name.metric, row.name.statistic)
        logRatio = Self.logarithm(row.change) ?? 0
        low = Self.logarithm(row.low)
        high = Self.logarithm(row.high)
        (value, unit, pairs, self.machine) = (row.head, row.unit, row.pairs, machine)
    }

    private static func logarithm(_ change: Double?) -> Double? { change.flatMap { $0 > -1 ? log1p($0) : nil } }

    /// Whether the logarithms and `value` are plausible.
    public var isPlausible: Bool {
        [logRatio, low, high].allSatisfy { ($0 ?? 0).magnitude <= 100 } && value.map(Figure.isPlausible) ?? true
    }

    public var series: HistorySeries.Name {
        .init(
            scenario: RenamedWords.scenarios[scenario] ?? scenario, driver: driver,
            variant: RenamedWords.variant(variant),
            figure: FigureName(Metric(recorded: metric)?.rawValue ?? metric, statistic))
    }
}

/// A figure over commits, with its breaks (`Break`).
public struct HistorySeries: Sendable, Equatable {
    public struct Name: Hashable, Sendable, Comparable, CustomStringConvertible {
        public var scenario: String
        public var driver: String
        public var variant: String
        public var figure: FigureName

        public var description: String {
            [scenario, driver, variant, figure.description].filter { !$0.isEmpty }.joined(separator: " ")
        }

        public static func < (left: Name, right: Name) -> Bool { left.description < right.description }
    }

    /// A change point: from here on, the median of the figure is a different one.
    public struct Break: Sendable, Equatable {
        /// Index in `points` of the first point after the break.
        public var index: Int
        /// Change of the figure at the break.
        public var change: Double
        public var isWorse: Bool
    }

    public var name: Name
    /// Points by position. A commit measured more than once has only its last point.
    public var points: [HistoryPoint]
    public var breaks: [Break]

    /// Returns all series of a history, by name.
    /// - Parameter points: points of one anchor; ratios to different anchors are not comparable.
    public static func all(_ points: [HistoryPoint], seed: UInt64 = 1) -> [HistorySeries] {
        Dictionary(grouping: points, by: \.series).sorted { $0.key < $1.key }.map { name, points in
            let latest = Dictionary(points.map { ($0.commit, $0) }, uniquingKeysWith: { _, last in last })
            let ordered = latest.values.sorted { ($0.position, $0.commit) < ($1.position, $1.commit) }
            return HistorySeries(name: name, points: ordered, breaks: breaks(ordered, name.figure, seed))
        }
    }

    /// Returns breaks at which the medians of the adjacent segments differ by at least the threshold.
    private static func breaks(_ points: [HistoryPoint], _ figure: FigureName, _ seed: UInt64) -> [Break] {
        let values = points.map(\.logRatio)
        var random = SplitMix64(seed: seed)
        let places = ChangePoints().breaks(values, using: &random)
        let criterion = Criterion(figure)
        let edges = [0] + places + [values.count]
        return places.enumerated().compactMap { number, place in
            let before = median(values[edges[number]..<place])!
            let after = median(values[place..<edges[number + 2]])!
            guard abs(after - before) >= criterion.delta else { return nil }
            let isWorse = criterion.worse == .less ? after < before : after > before
            return Break(index: place, change: expm1(after - before), isWorse: isWorse)
        }
    }
}
