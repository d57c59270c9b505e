// The plan of a comparison: its subjects and its size. It is stored at the start of the journal, so that a resumed
// comparison continues with it. Pure.
import TidegaugeSpec

/// A scenario on a driver, with one gate: the figure that decides.
public struct ComparedSubject: Codable, Sendable, Equatable {
    public var scenario: String
    public var driver: String
    public var purpose: String
    public var gate: String
    /// Statistic of the gate. The mean replaces it if trials have too few samples for it (`GateTrack.gate`).
    public var statistic: String
    /// One spec per sweep point.
    public var points: [TrialSpec]

    public init(
        scenario: String, driver: String, purpose: String, gate: String, statistic: String, points: [TrialSpec]
    ) {
        (self.scenario, self.driver, self.purpose) = (scenario, driver, purpose)
        (self.gate, self.statistic, self.points) = (gate, statistic, points)
    }

    public var title: String { "\(scenario) \(driver)" }

    /// Title of one of its points.
    public func title(of point: TrialSpec) -> String {
        point.variant.isEmpty ? title : "\(title) \(point.variant)"
    }
}

/// Source of the trials of one side.
public struct ComparedSide: Codable, Sendable, Equatable {
    /// Name as given: `HEAD~1`, `working tree`, a path.
    public var name: String
    /// Full commit hash; empty without one.
    public var commit: String
    /// Path of the binary.
    public var executable: String
    public var fingerprint: String
    /// Whether it contains uncommitted changes.
    public var isDirty: Bool
    /// Artificial cost of each trial; nil: none.
    public var shim: Shim?
    /// Engines of the commit, which run in processes of their own, as JSON for a trial; nil: the binary is of the
    /// commit.
    public var engines: String?

    public init(name: String, commit: String, executable: String, fingerprint: String, isDirty: Bool = false) {
        (self.name, self.commit, self.executable) = (name, commit, executable)
        (self.fingerprint, self.isDirty) = (fingerprint, isDirty)
    }
}

/// Something that cannot be compared, with the reason.
public struct OneSided: Codable, Sendable, Equatable {
    public var what: String
    public var why: String

    public init(what: String, why: String) { (self.what, self.why) = (what, why) }
}

public struct ComparisonPlan: Codable, Sendable, Equatable {
    /// Version, raised when the order of pairs or the void rule changes: journals of other versions cannot be replayed.
    public static let currentVersion = 4

    public var version = ComparisonPlan.currentVersion
    public var base: ComparedSide
    public var head: ComparedSide
    public var subjects: [ComparedSubject]
    public var oneSided: [OneSided]
    public var profile: Profile
    /// Number of pairs of the screening stage; 0: only counts decide.
    public var pairs: Int
    /// Time limit for all pairs; nil: none.
    public var budgetSeconds: Double?
    public var seed: UInt64
    public var rule: VoidRule
    /// Number of draws of pairs for the interval of merged samples.
    public var resamples: Int

    public init(
        base: ComparedSide, head: ComparedSide, subjects: [ComparedSubject], oneSided: [OneSided] = [],
        profile: Profile = .smoke, pairs: Int = 20, budgetSeconds: Double? = nil, seed: UInt64 = 1,
        rule: VoidRule = VoidRule(), resamples: Int = 10_000
    ) {
        (self.base, self.head, self.subjects, self.oneSided) = (base, head, subjects, oneSided)
        (self.profile, self.pairs, self.budgetSeconds, self.seed) = (profile, pairs, budgetSeconds, seed)
        (self.rule, self.resamples) = (rule, resamples)
    }

    /// Maximum number of pairs of the screening stage, and of draws.
    public static let mostPairs = 10_000
    public static let mostResamples = 1_000_000

    /// Whether this binary can resume the plan: its version and size are valid.
    public var isReadable: Bool {
        version == Self.currentVersion && 0...Self.mostPairs ~= pairs && 0...Self.mostResamples ~= resamples
            && subjects.allSatisfy { !$0.points.isEmpty }
    }
}
