// Maximum amounts that a trial may record. They are computed beforehand, because recording must not allocate during the
// measurement. Unused capacity costs only address space, so the limits are generous.
import TidegaugeSpec

enum TrialSize {
    /// Commits per writer of a closed loop: 16 million, which last 30 s at 1.8 µs each.
    private static let closedCommits = 1 << 24

    /// Commits per writer in lockstep: a million, which last 10 s at 10 µs each.
    private static let lockstepCommits = 1 << 20

    /// Returns the maximum number of commits of one writer.
    static func commitsPerWriter(_ spec: TrialSpec) -> Int {
        if let count = spec.count { return count.warmUpCommits + count.commits }
        switch spec.writers.load {
        case .closed: return closedCommits
        // Without observers, writers wait for none.
        case .lockstep: return spec.observers.count > 0 ? lockstepCommits : closedCommits
        case .open: break
        }
        // A writer in a separate process may have to do everything that its predecessor did not.
        let sharing = spec.writersShareSchedule ? 1 : spec.writers.threads
        if spec.writers.arrivals == .trace { return spec.writers.traceNs.count / sharing + 1 }
        let seconds = Double(spec.warmUpNs + spec.durationNs) / 1e9
        let mean = spec.writers.rateHz * seconds / Double(sharing)
        // On-off: commits in the two busy phases at the ends, which the mean spreads out.
        let busy = 2 * spec.writers.rateHz * Double(spec.writers.onNs + spec.writers.offNs) / 1e9
        // 20 standard deviations of a Poisson count, and two bursts that straddle the ends.
        return Int(mean + busy + 20 * (mean + busy).squareRoot()) + 2 * spec.writers.burst + 64
    }

    /// Returns the maximum number of callbacks of one observer; an engine that never coalesces makes one per commit.
    static func callbacks(_ spec: TrialSpec) -> Int {
        min(commitsPerWriter(spec) * spec.writers.threads, closedCommits) + 1024
    }

    /// Returns the maximum number of callbacks of one idle query. Its rows do not change, but some engines call its
    /// observer for every commit.
    static func idleCallbacks(_ spec: TrialSpec) -> Int {
        min(callbacks(spec), idleQueries / max(spec.observers.idleQueries, 1) + 1024)
    }

    private static let idleQueries = 1 << 26

    /// Returns the maximum number of indices of one observer: three for each row of each callback's commit, and more if
    /// there are few observers, because an engine may report more rows than were changed; about 134 million at most.
    static func indices(_ spec: TrialSpec) -> Int {
        let changed = callbacks(spec) * spec.writers.rowsPerCommit * 3
        return min(max(changed, manyIndices / max(spec.observers.count, 1)), 1 << 27) + 1024
    }

    private static let manyIndices = 1 << 25
}
