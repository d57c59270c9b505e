// Computes how long commits must sleep so that in total they wait for a share of their own time. A sleep ends late,
// so the time actually slept is subtracted from the debt, and the recent mean lateness is subtracted from each
// request. Arithmetic only: the caller sleeps.

/// The sleep debt of one writer.
struct WaitDebt {
    /// Shortest sleep in ns; a smaller debt is left to the next commit.
    static let shortestNs = 20_000.0
    /// Maximum lateness in ns that is accounted for. More is due to the machine and does not shorten sleeps.
    static let latestNs = 200_000.0
    /// Weight of one sleep in the moving mean of the lateness.
    private static let weight = 0.125

    private let share: Double
    private var owedNs = 0.0
    private var latenessNs = 0.0

    init(share: Double) { self.share = share }

    /// - Returns: the sleep in ns after a commit that took `commitNs`; nil if there is none.
    mutating func sleepNs(after commitNs: Int64) -> Int64? {
        owedNs += Double(commitNs) * share
        let askedNs = owedNs - latenessNs
        return askedNs < Self.shortestNs ? nil : Int64(askedNs)
    }

    /// Subtracts the result of the sleep that `sleepNs` requested.
    mutating func slept(_ ns: Int64, asked askedNs: Int64) {
        let lateNs = min(Double(ns - askedNs), Self.latestNs)
        latenessNs += (lateNs - latenessNs) * Self.weight
        owedNs -= Double(askedNs) + lateNs
    }
}
