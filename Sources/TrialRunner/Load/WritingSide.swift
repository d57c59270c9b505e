// Who commits in a trial: threads of this process, or processes of their own. Used on the conducting thread.
import Measure

/// The one companion that every trial has: `end` lets the writers go, whose CPU clocks have been read by then.
protocol WritingSide: Companion {
    /// Starts the writers and returns the measured window, which warm-up precedes.
    func launch() throws -> Window
    /// Returns once every writer has made its last commit.
    /// - Parameter look: called every 10 ms with the time.
    func awaitEnd(look: (Int64) throws -> Void) throws
    /// Commits made so far.
    var commitsSoFar: Int { get }
    /// Of each writer, in the order it committed; after `awaitEnd`.
    var records: [RecordBuffer<CommitRecord>] { get }
    /// CPU time that writers of this process spent waiting actively.
    var spunNs: Int64 { get }
    /// Of the writers' threads in this process.
    var allocations: [ThreadAllocations?] { get }
    /// Commits that the store refused and that were made again.
    var refusals: Int { get }
    /// From what was done to a writer to the next commit that returned.
    var recoveryNs: Int64? { get }
    /// Lets the writers end.
    func dismiss()
}

extension WritingSide {
    func end(into findings: inout Findings) {
        dismiss()
        findings.recoveryNs = recoveryNs
        findings.refusals = refusals
    }
}
