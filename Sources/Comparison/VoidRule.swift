// When a pair does not count: rules fixed beforehand, of the machine's noise alone. A pair is never dropped for what it
// measured. Pure.
import Measure

public struct VoidRule: Codable, Sendable, Equatable {
    /// Of the trial's time, taken by the hypervisor.
    public var mostStealShare = NoiseLimits.mostStealShare
    /// The same where the sides took turns: a fifth may be taken from both, and no more from the one than from the other.
    public var mostStealShareInTurns = 0.2
    /// Late wake-ups, 99th percentile.
    public var mostHiccupNs: Double
    /// Both sides follow one schedule; by so much the commits due in their windows may differ.
    public var mostPacingError = 0.01
    /// So many pairs of a subject may be void before the machine is too noisy to say anything.
    public var mostVoidShare = 0.2

    /// - Parameter calibratedHiccupNs: what is usual on this machine, where that is known; four times it is not noise.
    public init(calibratedHiccupNs: Double? = nil) {
        mostHiccupNs = NoiseLimits.mostHiccupNs(calibratedNs: calibratedHiccupNs)
    }

    public static var keepingEverything: VoidRule {
        var rule = VoidRule()
        (rule.mostStealShare, rule.mostStealShareInTurns) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
        (rule.mostHiccupNs, rule.mostPacingError) = (.greatestFiniteMagnitude, 1)
        return rule
    }

    /// Why `points` do not count; nil where they do.
    public func reason(_ points: [PointPair]) -> String? {
        for point in points {
            let inTurns = point.inTurns ?? false
            let most = inTurns ? mostStealShareInTurns : mostStealShare
            if inTurns, abs(point.base.noise.stealShare - point.head.noise.stealShare) > mostStealShare {
                return "steal on one side"
            }
            for (side, trial) in [("base", point.base), ("head", point.head)] {
                if trial.noise.stealShare > most { return "steal on \(side)" }
                if trial.noise.hiccupP99Ns ?? 0 > mostHiccupNs { return "hiccups on \(side)" }
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
    public func mostVoids(pairs: Int) -> Int { Int((mostVoidShare * Double(pairs)).rounded(.up)) }
}
