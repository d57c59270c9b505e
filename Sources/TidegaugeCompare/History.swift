// A project's figures over its commits. Each is told as a logarithm against one pinned anchor build that ran beside it, so
// that a slower machine, or a busier day, is in both and cancels. Pure.
import Glibc
import TidegaugeMeasure
import TidegaugeStatistics

/// One commit, scenario and metric.
public struct HistoryPoint: Codable, Sendable, Equatable {
    /// Raised whenever a field changes its meaning.
    public static let currentVersion = 1

    public var version = HistoryPoint.currentVersion
    public var commit: String
    /// Commits before it on its first-parent line: what orders the history.
    public var position: Int
    public var anchor: String
    public var scenario: String
    public var driver: String
    public var variant: String
    public var metric: String
    public var statistic: String
    /// ln(commit / anchor): Hodges–Lehmann over pairs.
    public var logRatio: Double
    public var low: Double?
    public var high: Double?
    /// The commit's own figure, median over pairs; of this machine and day.
    public var value: Double?
    public var unit: String
    public var pairs: Int
    public var machine: String

    /// The point of a gate that was compared with the anchor.
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

    /// Whether its numbers are such as a comparison has.
    public var isPlausible: Bool {
        [logRatio, low, high].allSatisfy { ($0 ?? 0).magnitude <= 100 } && value.map(Figure.isPlausible) ?? true
    }

    public var series: HistorySeries.Name {
        .init(scenario: scenario, driver: driver, variant: variant, figure: FigureName(metric, statistic))
    }
}

/// One figure over commits, and where it changed.
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

    public struct Break: Sendable, Equatable {
        /// Into `points`: the first one behind it.
        public var index: Int
        /// As a change of the figure.
        public var change: Double
        public var isWorse: Bool
    }

    public var name: Name
    /// By position; of a commit that was measured more than once the last.
    public var points: [HistoryPoint]
    public var breaks: [Break]

    /// All series of a history, by name.
    /// - Parameter points: of one anchor; others are left out by the caller, since two anchors share no zero.
    public static func all(_ points: [HistoryPoint], seed: UInt64 = 1) -> [HistorySeries] {
        Dictionary(grouping: points, by: \.series).sorted { $0.key < $1.key }.map { name, points in
            let latest = Dictionary(points.map { ($0.commit, $0) }, uniquingKeysWith: { _, last in last })
            let ordered = latest.values.sorted { ($0.position, $0.commit) < ($1.position, $1.commit) }
            return HistorySeries(name: name, points: ordered, breaks: breaks(ordered, name.figure, seed))
        }
    }

    /// Breaks that matter: at least the figure's threshold between the medians of the two segments they part.
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
