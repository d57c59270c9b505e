// How much a trial may record, worked out beforehand because nothing is allocated while the clock runs. Capacity that
// is not used costs address space only, so the bounds are generous.
import TidegaugeSpec

enum TrialSize {
    /// A closed loop commits as fast as it can: 16 million commits per writer is 30 s at the speed of a memory copy.
    private static let closedCommits = 1 << 24

    /// Two wakes of a thread per commit: a million is ten seconds at the very least.
    private static let lockstepCommits = 1 << 20

    /// Most commits of one writer.
    static func commitsPerWriter(_ spec: TrialSpec) -> Int {
        if let count = spec.count { return count.warmUpCommits + count.commits }
        switch spec.writers.load {
        case .closed: return closedCommits
        // Without observers, as in the companion that says what a commit costs by itself, nobody is waited for.
        case .lockstep: return spec.observers.count > 0 ? lockstepCommits : closedCommits
        case .open: break
        }
        // In a process of its own a writer may have to do all that its predecessor has not.
        let sharing = spec.writersShareSchedule ? 1 : spec.writers.threads
        if spec.writers.arrivals == .trace { return spec.writers.traceNs.count / sharing + 1 }
        let seconds = Double(spec.warmUpNs + spec.durationNs) / 1e9
        let mean = spec.writers.rateHz * seconds / Double(sharing)
        // On-off: what comes in the two busy times at the ends, which the mean spreads out.
        let busy = 2 * spec.writers.rateHz * Double(spec.writers.onNs + spec.writers.offNs) / 1e9
        // Twenty standard deviations of a Poisson count, and two bursts that straddle the ends.
        return Int(mean + busy + 20 * (mean + busy).squareRoot()) + 2 * spec.writers.burst + 64
    }

    /// Most callbacks of one observer: an engine that never coalesces makes one per commit.
    static func callbacks(_ spec: TrialSpec) -> Int {
        min(commitsPerWriter(spec) * spec.writers.threads, closedCommits) + 1024
    }

    /// Most callbacks of one bystander. Nothing it watches changes, but an engine that looks at every change calls it all the
    /// same, with nothing to say.
    static func bystanderCallbacks(_ spec: TrialSpec) -> Int {
        min(callbacks(spec), bystanders / max(spec.observers.bystanders, 1) + 1024)
    }

    private static let bystanders = 1 << 26

    /// Most indices of one observer: each row of each commit deleted, inserted and once more.
    static func indices(_ spec: TrialSpec) -> Int {
        min(callbacks(spec) * spec.writers.rowsPerCommit * 3, 1 << 27) + 1024
    }
}
