// Records of trials, of skipped drivers and of limits, as the parent passes them on and the journal stores them.
import TidegaugeMeasure
import TidegaugeSpec

/// One trial and its outcome. Its figures are separate rows.
public struct TrialRecord: Codable, Sendable, Equatable {
    public var spec: TrialSpec
    public var fate: TrialFate
    public var isUnavailable: Bool
    public var notes: [String]
    public var violations: [String]
    public var violationCount: Int
    public var counts: [String: Int]
    /// Process CPU per commit in ns, from which figures over a sweep are computed besides the rows.
    public var processCPUPerCommitNs: Double?
    /// Hangs and possible deadlocks, or nil.
    public var hangs: [HangRecord]?
    /// Hosts that took part in the trial, or nil.
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

/// Identifies a trial of a run.
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

/// A scenario that a driver cannot run.
public struct SkippedRecord: Codable, Sendable, Equatable {
    public var scenario: String
    public var driver: String
    public var reason: String

    public init(scenario: String, driver: String, reason: String) {
        (self.scenario, self.driver, self.reason) = (scenario, driver, reason)
    }
}

/// Result of one limit for one figure.
public struct Judgement: Codable, Sendable, Equatable {
    public enum Verdict: String, Codable, Sendable {
        case kept, broken
        /// No judgement: the figure or its bound has no value, or the figure is too uncertain.
        case unknown
    }

    /// The figure and the bound that it was compared with.
    public struct Held: Codable, Sendable, Equatable {
        public var variant: String
        public var metric: Metric
        public var statistic: String
        public var comparison: Limit.Comparison
        /// Bound and value in the metric's unit; nil if unknown or not finite.
        public var bound: Double?
        public var value: Double?
        /// Reason for the verdict `unknown`.
        public var reason: String?

        public init(_ limit: Limit, variant: String, bound: Double?, value: Double?, reason: String?) {
            (metric, statistic, comparison) = (limit.metric, limit.statistic, limit.comparison)
            (self.variant, self.reason) = (variant, reason)
            self.bound = bound.flatMap { $0.isFinite ? $0 : nil }
            self.value = value.flatMap { $0.isFinite ? $0 : nil }
        }
    }

    public var scenario: String
    public var driver: String
    public var verdict: Verdict
    /// `stillingwell dataset.items=1000: upkeep_cost.value <= 50.0 µs: 12.3 µs`.
    public var text: String
    /// nil in journals of older versions.
    public var held: Held?

    public init(scenario: String, driver: String, verdict: Verdict, text: String, held: Held? = nil) {
        (self.scenario, self.driver, self.verdict, self.text) = (scenario, driver, verdict, text)
        self.held = held
    }
}
