// What became of a trial, of one that could not be run, and of a limit: as the parent hands it on, and as the journal keeps it.
import Measure
import Scenario

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

    public init(_ result: TrialResult, of spec: TrialSpec) {
        (self.spec, fate, isUnavailable, notes) = (spec, result.fate, result.isUnavailable, result.notes)
        (violations, violationCount, counts) = (result.violations, result.violationCount, result.counts)
        processCPUPerCommitNs = result.cpu?.perCommitNs
        hangs = result.hangs.isEmpty ? nil : result.hangs
    }

    public var key: TrialKey { TrialKey(spec) }
}

/// Which trial of a run.
public struct TrialKey: Codable, Hashable, Sendable {
    public var scenario: String
    public var driver: String
    public var variant: String
    public var trial: Int

    public init(scenario: String, driver: String, variant: String, trial: Int) {
        (self.scenario, self.driver, self.variant, self.trial) = (scenario, driver, variant, trial)
    }

    public init(_ spec: TrialSpec) {
        self.init(scenario: spec.scenario, driver: spec.driver, variant: spec.variant, trial: spec.trial)
    }
}

/// What a driver cannot do.
public struct SkippedRecord: Codable, Sendable, Equatable {
    public var scenario: String
    public var driver: String
    public var reason: String

    public init(scenario: String, driver: String, reason: String) {
        (self.scenario, self.driver, self.reason) = (scenario, driver, reason)
    }
}

/// What became of one limit at one place.
public struct Judgement: Codable, Sendable, Equatable {
    public enum Verdict: String, Codable, Sendable {
        case kept, broken
        /// Nothing can be said: there is no value, or neither clock nor yardstick was steady enough.
        case unknown
    }

    public var scenario: String
    public var driver: String
    public var verdict: Verdict
    /// `livestore dataset.items=1000: upkeep_cost.value <= 50000 ns/commit: 12345`.
    public var text: String

    public init(scenario: String, driver: String, verdict: Verdict, text: String) {
        (self.scenario, self.driver, self.verdict, self.text) = (scenario, driver, verdict, text)
    }
}
