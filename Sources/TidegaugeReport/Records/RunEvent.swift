// Events of a run besides figures: its request, the trials, skipped drivers, judged limits, and the comparison with a
// baseline. Plain values, as stored in journal.ndjson.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The request of a run, sufficient to resume it.
public struct RunHeader: Codable, Sendable, Equatable {
    public var profile = Profile.ci
    /// Scenario paths as given on the command line.
    public var paths: [String] = []
    public var drivers: [String] = []
    public var seed: UInt64?
    public var overrides: [String] = []
    public var filter: String?
    public var trace = false
    /// File that replaces the traces of scenarios.
    public var traceFile: String?
    /// Path of the hosts file, and its content.
    public var hostsFile: String?
    public var hosts: [HostEntry]?
    /// Names of the baseline to compare with and of the one to save.
    public var baseline: String?
    public var savedBaseline: String?
    /// Counter of instructions, if only counts were requested.
    public var counter: InstructionCounter?
    /// Number of commits per counted trial, if given.
    public var countedCommits: Int?
    /// Identifies the binary that measured; see `Fingerprint`.
    public var binary = ""
    public var scenarios: [ScenarioRecord] = []
    /// Drivers that do nothing, of those that the program has. Nil in a run that was recorded before this field existed.
    public var emptyDrivers: [String]?

    public init(paths: [String] = []) { self.paths = paths }
}

extension RunHeader {
    /// Whether a driver does nothing, so that it measures only the harness.
    func isEmpty(_ driver: String) -> Bool { (emptyDrivers ?? Self.formerEmptyDrivers).contains(driver) }

    /// Drivers of this kind in runs that do not name them.
    private static let formerEmptyDrivers = ["noop", "null-server"]
}

/// Properties of a scenario that reports show.
public struct ScenarioRecord: Codable, Sendable, Equatable {
    public var name: String
    public var path: String
    public var purpose: String
    public var represents: String
    public var sha: String
    public var gate: Metric
    /// Questions of the summary that the scenario answers, or nil if it answers none.
    public var answers: [SummaryQuestion]?

    public init(
        name: String, path: String, purpose: String, represents: String, sha: String, gate: Metric,
        answers: [SummaryQuestion] = []
    ) {
        (self.name, self.path, self.purpose) = (name, path, purpose)
        (self.represents, self.sha, self.gate) = (represents, sha, gate)
        self.answers = answers.isEmpty ? nil : answers
    }
}

/// The end of a run, also of an interrupted one. Missing if the run was killed.
public struct EndRecord: Codable, Sendable, Equatable {
    /// Exit code of the process.
    public var exitCode: Int32

    public init(exitCode: Int32) { self.exitCode = exitCode }
}

/// An event, one line of the journal. Exactly one field is set.
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

    /// Line of the journal, without the last events of hangs, which are in a separate file.
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
