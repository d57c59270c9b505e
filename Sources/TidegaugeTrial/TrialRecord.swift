// What became of a trial, of one that could not be run, and of a limit: as the parent hands it on, and as the journal keeps it.
import TidegaugeMeasure
import TidegaugeSpec

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
    /// Those that wrote beside the trial's own; nil where it has none.
    public var hosts: [HostAccount]?

    public init(_ result: TrialResult, of spec: TrialSpec) {
        (self.spec, fate, isUnavailable, notes) = (spec, result.fate, result.isUnavailable, result.notes)
        (violations, violationCount, counts) = (result.violations, result.violationCount, result.counts)
        processCPUPerCommitNs = result.cpu?.perCommitNs
        hangs = result.hangs.isEmpty ? nil : result.hangs
        hosts = result.hosts
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

    /// The figure and what it was held against.
    public struct Held: Codable, Sendable, Equatable {
        public var variant: String
        public var metric: Metric
        public var statistic: String
        public var comparison: Limit.Comparison
        /// Both in the metric's unit; nil where it is not known.
        public var bound: Double?
        public var value: Double?
        /// Why nothing can be said.
        public var reason: String?

        public init(_ limit: Limit, variant: String, bound: Double?, value: Double?, reason: String?) {
            (metric, statistic, comparison) = (limit.metric, limit.statistic, limit.comparison)
            (self.variant, self.reason) = (variant, reason)
            // JSON has no number for what is none.
            self.bound = bound.flatMap { $0.isFinite ? $0 : nil }
            self.value = value.flatMap { $0.isFinite ? $0 : nil }
        }
    }

    public var scenario: String
    public var driver: String
    public var verdict: Verdict
    /// `stillingwell dataset.items=1000: upkeep_cost.value <= 50000 ns/commit: 12345`.
    public var text: String
    /// nil in journals from before.
    public var held: Held?

    public init(scenario: String, driver: String, verdict: Verdict, text: String, held: Held? = nil) {
        (self.scenario, self.driver, self.verdict, self.text) = (scenario, driver, verdict, text)
        self.held = held
    }
}
