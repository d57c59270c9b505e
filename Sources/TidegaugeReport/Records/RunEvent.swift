// What a run tells its report besides figures: what it was asked to do, how each trial went, what was skipped, how limits
// were judged, what became worse since a baseline. Plain values, as they stand in journal.ndjson.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// What a run was asked to do; enough to go on with it.
public struct RunHeader: Codable, Sendable, Equatable {
    public var profile = Profile.ci
    /// As given on the command line.
    public var paths: [String] = []
    public var drivers: [String] = []
    public var seed: UInt64?
    public var overrides: [String] = []
    public var filter: String?
    public var trace = false
    /// The file that stands in for the traces of scenarios.
    public var traceFile: String?
    /// The file that says what hosts there are, and what it said.
    public var hostsFile: String?
    public var hosts: [HostEntry]?
    /// Names of the baseline that the run is held against, and of the one that it becomes.
    public var baseline: String?
    public var savedBaseline: String?
    /// Who counted instructions, where that was all that was asked for.
    public var counter: InstructionCounter?
    /// How many commits each of them counts, where the run was told.
    public var countedCommits: Int?
    /// Names the very binary that measured; see `Fingerprint`.
    public var binary = ""
    public var scenarios: [ScenarioRecord] = []

    public init(paths: [String] = []) { self.paths = paths }
}

/// A scenario, as far as a report speaks of it.
public struct ScenarioRecord: Codable, Sendable, Equatable {
    public var name: String
    public var path: String
    public var purpose: String
    public var represents: String
    public var sha: String
    public var gate: Metric

    public init(name: String, path: String, purpose: String, represents: String, sha: String, gate: Metric) {
        (self.name, self.path, self.purpose) = (name, path, purpose)
        (self.represents, self.sha, self.gate) = (represents, sha, gate)
    }
}

/// The end of a run, of an interrupted one too; one that was killed has none.
public struct EndRecord: Codable, Sendable, Equatable {
    /// What a shell sees.
    public var exitCode: Int32

    public init(exitCode: Int32) { self.exitCode = exitCode }
}

/// One thing that happened, a line of the journal: exactly one of its fields is there.
public struct RunEvent: Codable, Sendable, Equatable {
    var run: RunHeader?
    var trial: TrialRecord?
    var skipped: SkippedRecord?
    var judged: Judgement?
    var ended: EndRecord?
    var compared: BaselineComparison?

    public static func trial(_ record: TrialRecord) -> RunEvent { RunEvent(trial: record) }
    public static func skipped(_ record: SkippedRecord) -> RunEvent { RunEvent(skipped: record) }
    public static func judged(_ record: Judgement) -> RunEvent { RunEvent(judged: record) }
    public static func ended(_ record: EndRecord) -> RunEvent { RunEvent(ended: record) }
    public static func compared(_ record: BaselineComparison) -> RunEvent { RunEvent(compared: record) }

    /// As it stands in the journal: without the last events of hangs, which have a file of their own.
    func line() throws -> String {
        var event = self
        for index in event.trial?.hangs?.indices ?? 0..<0 { event.trial!.hangs![index].events = [] }
        return try JSONLines.text(event)
    }
}

extension TrialKey {
    init(_ row: RunRow) {
        self.init(scenario: row.scenario, driver: row.driver, variant: row.variant, trial: row.trial)
    }
}
