// When a pair does not count: rules fixed beforehand, of the machine's noise alone. A pair is never dropped for what it
// measured. Pure.
import TidegaugeMeasure
import TidegaugeStatistics

public struct VoidRule: Codable, Sendable, Equatable {
    /// Limits of each side, as of the trials of a run.
    public var limits: NoiseLimits
    /// The limit of steal where the sides took turns: a fifth may be taken from both, and no more from the one than from the other.
    public var mostStealShareInTurns = 0.2
    /// Both sides follow one schedule; by so much the commits due in their windows may differ.
    public var mostPacingError = 0.01
    /// So many pairs of a subject may be void before the machine is too noisy to say anything.
    public var mostVoidShare = 0.2

    public init(_ limits: NoiseLimits = NoiseLimits()) { self.limits = limits }

    public static var keepingEverything: VoidRule {
        var rule = VoidRule()
        (rule.limits.mostStealShare, rule.mostStealShareInTurns) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        (rule.limits.mostWaitShare, rule.limits.mostHiccupNs) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        rule.mostPacingError = 1
        return rule
    }

    /// Why `points` do not count; nil where they do.
    public func reason(_ points: [PointPair]) -> String? {
        for point in points {
            var limits = limits
            if point.inTurns ?? false {
                let (base, head) = (point.base.noise?.stealShare ?? 0, point.head.noise?.stealShare ?? 0)
                if abs(base - head) > limits.mostStealShare { return "steal on one side" }
                // The neighbour of each side is the other one.
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

    /// Void pairs that a subject of `pairs` may have.
    public func mostVoids(pairs: Int) -> Int { Int(nearest: (mostVoidShare * Double(pairs)).rounded(.up)) }
}
