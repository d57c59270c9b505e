// When a pair does not count: rules fixed beforehand, of the machine's noise alone. A pair is never dropped for what it
// measured. Pure.

public struct VoidRule: Codable, Sendable, Equatable {
    /// Of the trial's time, taken by the hypervisor.
    public var mostStealShare = 0.02
    /// Late wake-ups, 99th percentile.
    public var mostHiccupNs = 5e6
    /// Both sides follow one schedule; by so much the commits due in their windows may differ.
    public var mostPacingError = 0.01
    /// So many pairs of a subject may be void before the machine is too noisy to say anything.
    public var mostVoidShare = 0.2

    /// - Parameter calibratedHiccupNs: what is usual on this machine, where that is known; four times it is not noise.
    public init(calibratedHiccupNs: Double? = nil) {
        mostHiccupNs = max(mostHiccupNs, 4 * (calibratedHiccupNs ?? 0))
    }

    public static var keepingEverything: VoidRule {
        var rule = VoidRule()
        (rule.mostStealShare, rule.mostHiccupNs, rule.mostPacingError) = (
            .greatestFiniteMagnitude, .greatestFiniteMagnitude, 1
        )
        return rule
    }

    /// Why `points` do not count; nil where they do.
    public func reason(_ points: [PointPair]) -> String? {
        for point in points {
            for (side, trial) in [("base", point.base), ("head", point.head)] {
                if trial.noise.stealShare > mostStealShare { return "steal on \(side)" }
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
