// What a pair of trials left behind: figures of both sides by name, since one side's binary may know metrics that the other
// does not, and what the machine did meanwhile. Plain values, as they stand in a comparison's journal.
import TidegaugeMeasure

/// A figure's name: `write_service_time`, `p50`.
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
    /// The worst of the trial and its companions; nil from a binary that kept no account.
    public var noise: NoiseAccount?
    /// Commits that were due in the measured window.
    public var dueCommits: Int?
    /// Why a trial ended early, for people.
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

/// Both sides at one point of the sweep: in turns of milliseconds, or one right after the other.
public struct PointPair: Codable, Sendable, Equatable {
    public var variant: String
    public var headFirst: Bool
    /// What lasts longer than a turn was done to both sides alike. nil: no.
    public var inTurns: Bool?
    public var base: SideTrial
    public var head: SideTrial

    public init(variant: String, headFirst: Bool, inTurns: Bool? = nil, base: SideTrial, head: SideTrial) {
        (self.variant, self.headFirst, self.inTurns) = (variant, headFirst, inTurns)
        (self.base, self.head) = (base, head)
    }
}

/// A pair of one subject over all points of its sweep: the unit of every judgement.
public struct PairRecord: Codable, Sendable, Equatable {
    public enum Stage: String, Codable, Sendable {
        case screen, confirm
    }

    public var subject: Int
    /// Counts all pairs of the subject, void ones too.
    public var number: Int
    public var stage: Stage
    /// Seconds from the start of the comparison, without interruptions.
    public var atSeconds: Double
    /// The pause behind a void pair included.
    public var lengthSeconds: Double
    public var points: [PointPair]
    /// Why the pair does not count; by a rule that knows nothing of what was measured.
    public var void: String?

    public init(
        subject: Int, number: Int, stage: Stage, atSeconds: Double, lengthSeconds: Double, points: [PointPair],
        void: String? = nil
    ) {
        (self.subject, self.number, self.stage, self.atSeconds) = (subject, number, stage, atSeconds)
        (self.lengthSeconds, self.points, self.void) = (lengthSeconds, points, void)
    }

    /// Whether its numbers are such as trials have.
    public var isPlausible: Bool {
        [atSeconds, lengthSeconds].allSatisfy(Figure.isPlausible)
            && points.flatMap { $0.base.values + $0.head.values }.allSatisfy { Figure.isPlausible($0.value) }
    }

    /// The sides that did not complete.
    public var failures: [(isHead: Bool, variant: String, trial: SideTrial)] {
        points.flatMap { [(false, $0.variant, $0.base), (true, $0.variant, $0.head)] }
            .filter { $0.2.fate != .completed }
            .map { (isHead: $0.0, variant: $0.1, trial: $0.2) }
    }
}
