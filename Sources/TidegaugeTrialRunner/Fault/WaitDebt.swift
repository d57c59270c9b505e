// How long commits have to sleep so that, all together, they wait for a share of their own time. A sleep ends late,
// so what was slept is taken off what is owed, and what sleeps were late by lately is not asked
// for. Arithmetic alone: sleeping is the caller's.

/// What the commits of one writer owe.
struct WaitDebt {
    /// Less than that is left to the next commit.
    static let shortestNs = 20_000.0
    /// What is later is the machine's doing, and no commit waits less for it.
    static let latestNs = 200_000.0
    /// What one sleep adds to the mean of how late they are.
    private static let weight = 0.125

    private let share: Double
    private var owedNs = 0.0
    private var latenessNs = 0.0

    init(share: Double) { self.share = share }

    /// - Returns: how long to sleep behind a commit that took so long; nil: not at all.
    mutating func sleepNs(after commitNs: Int64) -> Int64? {
        owedNs += Double(commitNs) * share
        let askedNs = owedNs - latenessNs
        return askedNs < Self.shortestNs ? nil : Int64(askedNs)
    }

    /// Takes off what came of `sleepNs`.
    mutating func slept(_ ns: Int64, asked askedNs: Int64) {
        let lateNs = min(Double(ns - askedNs), Self.latestNs)
        latenessNs += (lateNs - latenessNs) * Self.weight
        owedNs -= Double(askedNs) + lateNs
    }
}
