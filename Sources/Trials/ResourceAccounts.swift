// What a trial took of the machine within its measured window: CPU time and allocations.
import Measure

/// CPU time from the start of the measured window until every observer had covered its last commit. The harness's own
/// work (the conducting thread, the hiccup probe, active waiting for due times) is in none of the figures.
public struct CPUAccount: Codable, Sendable, Equatable {
    public var processNs: Int64 = 0
    /// By `ThreadRole`.
    public var roleNs: [String: Int64] = [:]
    /// Taken off: conducting thread and hiccup probe.
    public var harnessNs: Int64 = 0
    /// Taken off the writers: active waiting.
    public var spunNs: Int64 = 0
    /// Commits that returned in that time.
    public var commits = 0
    /// Those of them that affect at least one observer.
    public var affectingCommits = 0

    package init() {}

    /// Process CPU per commit, ns; nil without commits.
    public var perCommitNs: Double? { commits > 0 ? Double(processNs) / Double(commits) : nil }
}

/// Allocations from the start of the measured window until every observer had covered its last commit.
public struct AllocationAccount: Codable, Sendable, Equatable {
    /// Without the conducting thread's bytes.
    public var process: AllocationTotals
    public var writerBytes: Int64
    /// Of the observing threads; nil where deliveries run on queues.
    public var observerBytes: Int64?
    public var commits: Int
    public var affectingCommits: Int

    package init(
        process: AllocationTotals, writerBytes: Int64, observerBytes: Int64?, commits: Int, affectingCommits: Int
    ) {
        (self.process, self.writerBytes, self.observerBytes) = (process, writerBytes, observerBytes)
        (self.commits, self.affectingCommits) = (commits, affectingCommits)
    }

    /// Everything that is neither a writer's nor an observing thread's.
    package var engineBytes: Int64? { observerBytes.map { max(0, process.bytes - writerBytes - $0) } }
}
