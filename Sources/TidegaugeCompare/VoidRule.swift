// Void pairs: rules fixed in advance that use only the machine's noise and the number of due commits. No pair is
// dropped for its measured values. Pure.
import TidegaugeMeasure
import TidegaugeStatistics

public struct VoidRule: Codable, Sendable, Equatable {
    /// Noise limits for each side, as for the trials of a run. Sides that ran interleaved have other limits of stolen
    /// time and of waiting.
    public var limits: NoiseLimits
    /// Limit of stolen time if the sides ran interleaved: up to 20 % on both, if equal within the usual limit.
    public var mostStealShareInTurns = 0.2
    /// Maximum relative difference of the commits due in both windows, which follow the same schedule.
    public var mostPacingError = 0.01
    /// Maximum share of void pairs of a subject in one stage before the machine counts as too noisy.
    public var mostVoidShare = 0.2

    public init(_ limits: NoiseLimits = NoiseLimits()) { self.limits = limits }

    public static var keepingEverything: VoidRule {
        var rule = VoidRule()
        (rule.limits.mostStealShare, rule.mostStealShareInTurns) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        (rule.limits.mostWaitShare, rule.limits.mostHiccupNs) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        rule.mostPacingError = 1
        return rule
    }

    /// Returns why `points` are void, or nil.
    public func reason(_ points: [PointPair]) -> String? {
        for point in points {
            var limits = limits
            if point.inTurns ?? false {
                let (base, head) = (point.base.noise?.stealShare ?? 0, point.head.noise?.stealShare ?? 0)
                if abs(base - head) > limits.mostStealShare { return "steal on one side" }
                // The sides wait for each other, so waiting is not limited.
                (limits.mostStealShare, limits.mostWaitShare) = (mostStealShareInTurns, .greatestFiniteMagnitude)
            }
            for (side, trial) in [("base", point.base), ("head", point.head)] {
                if let found = trial.noise?.disturbance(limits) { return "\(found.kind.rawValue) on \(side)" }
            }
            if let base = point.base.dueCommits, let head = point.head.dueCommits, max(base, head) > 0,
                Double(abs(base - head)) > mostPacingError * Double(max(base, head))
            {
                return "pacing"
            }
        }
        return nil
    }

    /// Maximum number of void pairs for a stage of `pairs` pairs.
    public func mostVoids(pairs: Int) -> Int { Int(nearest: (mostVoidShare * Double(pairs)).rounded(.up)) }
}
