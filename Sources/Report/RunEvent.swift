// What a run tells its report besides figures: what it was asked to do, how each trial went, what was skipped, how limits
// were judged. Plain values, as they stand in journal.ndjson.
import Measure
import Scenario

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

    public init(_ scenario: Scenario) {
        name = scenario.name
        path = scenario.path
        purpose = scenario.purpose
        represents = scenario.represents
        sha = scenario.sha256
        gate = scenario.gate
    }
}

/// One trial and how it went; its figures are rows of their own.
public struct TrialRecord: Codable, Sendable, Equatable {
    public var spec: TrialSpec
    public var fate: TrialFate
    public var isUnavailable: Bool
    public var notes: [String]
    public var violations: [String]
    public var violationCount: Int
    public var counts: [String: Int]
    /// What figures over a sweep are made of, next to rows.
    public var processCPUPerCommitNs: Double?
    /// What kept it from going on, or could have; nil where nothing did.
    public var hangs: [HangRecord]?

    public init(
        spec: TrialSpec, fate: TrialFate, isUnavailable: Bool = false, notes: [String] = [],
        violations: [String] = [], violationCount: Int = 0, counts: [String: Int] = [:],
        processCPUPerCommitNs: Double? = nil, hangs: [HangRecord] = []
    ) {
        self.hangs = hangs.isEmpty ? nil : hangs
        self.spec = spec
        self.fate = fate
        self.isUnavailable = isUnavailable
        self.notes = notes
        self.violations = violations
        self.violationCount = violationCount
        self.counts = counts
        self.processCPUPerCommitNs = processCPUPerCommitNs
    }

    public var key: TrialKey { TrialKey(spec) }

    /// Without the last events of hangs, which have a file of their own.
    var withoutEvents: TrialRecord {
        var record = self
        for index in record.hangs?.indices ?? 0..<0 { record.hangs![index].events = [] }
        return record
    }
}

/// Which trial of a run.
public struct TrialKey: Codable, Hashable, Sendable {
    public var scenario: String
    public var driver: String
    public var variant: String
    public var trial: Int

    public init(scenario: String, driver: String, variant: String, trial: Int) {
        self.scenario = scenario
        self.driver = driver
        self.variant = variant
        self.trial = trial
    }

    public init(_ spec: TrialSpec) {
        self.init(scenario: spec.scenario, driver: spec.driver, variant: spec.variant, trial: spec.trial)
    }

    init(_ row: RunRow) {
        self.init(scenario: row.scenario, driver: row.driver, variant: row.variant, trial: row.trial)
    }
}

/// What a driver cannot do.
public struct SkippedRecord: Codable, Sendable, Equatable {
    public var scenario: String
    public var driver: String
    public var reason: String

    public init(scenario: String, driver: String, reason: String) {
        self.scenario = scenario
        self.driver = driver
        self.reason = reason
    }
}

/// What became of one limit at one place.
public struct JudgementRecord: Codable, Sendable, Equatable {
    public enum Verdict: String, Codable, Sendable {
        case kept, broken, unknown
    }

    public var scenario: String
    public var driver: String
    public var verdict: Verdict
    public var text: String

    public init(scenario: String, driver: String, verdict: Verdict, text: String) {
        self.scenario = scenario
        self.driver = driver
        self.verdict = verdict
        self.text = text
    }
}

/// The end of a run, of an interrupted one too; one that was killed has none.
public struct EndRecord: Codable, Sendable, Equatable {
    /// What a shell sees.
    public var exitCode: Int32

    public init(exitCode: Int32) { self.exitCode = exitCode }
}

/// One thing that happened.
public enum RunEvent: Sendable, Equatable {
    case trial(TrialRecord)
    case skipped(SkippedRecord)
    case judged(JudgementRecord)
    case ended(EndRecord)
}
