// What a comparison is going to do: its subjects and its size. Stands at the head of the journal, so that a resumed
// comparison goes on with the same. Pure.
import TidegaugeSpec

/// A scenario on a driver: what has a gate.
public struct ComparedSubject: Codable, Sendable, Equatable {
    public var scenario: String
    public var driver: String
    public var purpose: String
    public var gate: String
    /// The statistic of the gate; where trials carry too few samples for it, the mean stands in.
    public var statistic: String
    /// One spec for each point of the sweep.
    public var points: [TrialSpec]

    public init(
        scenario: String, driver: String, purpose: String, gate: String, statistic: String, points: [TrialSpec]
    ) {
        (self.scenario, self.driver, self.purpose) = (scenario, driver, purpose)
        (self.gate, self.statistic, self.points) = (gate, statistic, points)
    }

    public var title: String { "\(scenario) \(driver)" }

    /// The same of one of its points.
    public func title(of point: TrialSpec) -> String {
        point.variant.isEmpty ? title : "\(title) \(point.variant)"
    }
}

/// Where the trials of one side come from.
public struct ComparedSide: Codable, Sendable, Equatable {
    /// As it was asked for: `HEAD~1`, `working tree`, a path.
    public var name: String
    /// Full hash; empty where there is none.
    public var commit: String
    /// The binary that ran.
    public var executable: String
    public var fingerprint: String
    /// What it holds beyond the commit.
    public var isDirty: Bool
    /// A flaw that each of its trials has on purpose; nil of nearly all.
    public var shim: Shim?

    public init(name: String, commit: String, executable: String, fingerprint: String, isDirty: Bool = false) {
        (self.name, self.commit, self.executable) = (name, commit, executable)
        (self.fingerprint, self.isDirty) = (fingerprint, isDirty)
    }
}

/// Something that cannot be compared, and why.
public struct OneSided: Codable, Sendable, Equatable {
    public var what: String
    public var why: String

    public init(what: String, why: String) { (self.what, self.why) = (what, why) }
}

public struct ComparisonPlan: Codable, Sendable, Equatable {
    /// Raised with the order of pairs and with the void rule: a journal made by others cannot be replayed.
    public static let currentVersion = 4

    public var version = ComparisonPlan.currentVersion
    public var base: ComparedSide
    public var head: ComparedSide
    public var subjects: [ComparedSubject]
    public var oneSided: [OneSided]
    public var profile: Profile
    /// Of the screening stage; 0: counts alone decide.
    public var pairs: Int
    /// All trials together may take so long; nil: as long as they take.
    public var budgetSeconds: Double?
    public var seed: UInt64
    public var rule: VoidRule
    /// Draws of pairs for the interval of merged samples.
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

    /// Most pairs of the screening stage, and most draws of pairs.
    public static let mostPairs = 10_000
    public static let mostResamples = 1_000_000

    /// Whether this binary can go on with it: a plan of its own version and size.
    public var isReadable: Bool {
        version == Self.currentVersion && 0...Self.mostPairs ~= pairs && 0...Self.mostResamples ~= resamples
            && subjects.allSatisfy { !$0.points.isEmpty }
    }
}
