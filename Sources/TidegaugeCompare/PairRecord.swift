// Results of a pair of trials: figures of both sides by name, because one binary may know metrics that the other
// lacks, and disturbances of the machine. Plain values, as stored in a comparison's journal.
import TidegaugeMeasure

/// Name of a figure: `write_service_time`, `p50`.
public struct FigureName: Codable, Hashable, Sendable, Comparable, CustomStringConvertible {
    public var metric: String
    public var statistic: String

    public init(_ metric: String, _ statistic: String) { (self.metric, self.statistic) = (metric, statistic) }

    public var description: String { statistic == "value" ? metric : "\(metric) \(statistic)" }

    public static func < (left: FigureName, right: FigureName) -> Bool {
        (left.metric, left.statistic) < (right.metric, right.statistic)
    }
}

/// One side of a pair at one point.
public struct SideTrial: Codable, Sendable, Equatable {
    public struct Value: Codable, Sendable, Equatable {
        public var name: FigureName
        public var value: Double

        public init(_ name: FigureName, _ value: Double) { (self.name, self.value) = (name, value) }
    }

    public var fate: TrialFate
    public var values: [Value]
    public var samples: [HistogramRecord]
    /// The worst noise of the trial and of the trials that its figures need beside it; nil from binaries without a
    /// noise account.
    public var noise: NoiseAccount?
    /// Number of commits due in the measured window.
    public var dueCommits: Int?
    /// Reasons why a trial ended early, for people.
    public var notes: [String]

    public init(
        fate: TrialFate, values: [Value], samples: [HistogramRecord] = [], noise: NoiseAccount? = nil,
        dueCommits: Int? = nil, notes: [String] = []
    ) {
        (self.fate, self.values, self.samples) = (fate, values, samples)
        (self.noise, self.dueCommits, self.notes) = (noise, dueCommits, notes)
    }

    public func value(_ name: FigureName) -> Double? { values.first { $0.name == name }?.value }
}

/// Both sides at one sweep point: interleaved in slices of milliseconds, or one after the other.
public struct PointPair: Codable, Sendable, Equatable {
    public var variant: String
    public var headFirst: Bool
    /// Whether both sides ran interleaved in slices, so that longer disturbances hit both. nil: no.
    public var inTurns: Bool?
    public var base: SideTrial
    public var head: SideTrial

    public init(variant: String, headFirst: Bool, inTurns: Bool? = nil, base: SideTrial, head: SideTrial) {
        (self.variant, self.headFirst, self.inTurns) = (variant, headFirst, inTurns)
        (self.base, self.head) = (base, head)
    }
}

/// A pair of one subject over all sweep points: the unit of all decisions.
public struct PairRecord: Codable, Sendable, Equatable {
    public enum Stage: String, Codable, Sendable {
        case screen, confirm
    }

    public var subject: Int
    /// Number among all pairs of the subject, including void ones.
    public var number: Int
    public var stage: Stage
    /// Start in seconds from the start of the comparison, without interruptions.
    public var atSeconds: Double
    /// Length in seconds, including the pause after a void pair.
    public var lengthSeconds: Double
    public var points: [PointPair]
    /// Reason why the pair is void, or nil. The rule does not use measured values.
    public var void: String?

    public init(
        subject: Int, number: Int, stage: Stage, atSeconds: Double, lengthSeconds: Double, points: [PointPair],
        void: String? = nil
    ) {
        (self.subject, self.number, self.stage, self.atSeconds) = (subject, number, stage, atSeconds)
        (self.lengthSeconds, self.points, self.void) = (lengthSeconds, points, void)
    }

    /// Whether the times and figures are plausible.
    public var isPlausible: Bool {
        [atSeconds, lengthSeconds].allSatisfy(Figure.isPlausible)
            && points.flatMap { $0.base.values + $0.head.values }.allSatisfy { Figure.isPlausible($0.value) }
    }

    /// Sides that did not complete.
    public var failures: [(isHead: Bool, variant: String, trial: SideTrial)] {
        points.flatMap { [(false, $0.variant, $0.base), (true, $0.variant, $0.head)] }
            .filter { $0.2.fate != .completed }
            .map { (isHead: $0.0, variant: $0.1, trial: $0.2) }
    }
}
