// A trial that does what somebody recorded.
import TidegaugeSpec

extension TrialSpec {
    /// Commits when a trace says, and does what it says.
    mutating func follow(_ trace: Trace) {
        writers.traceNs = trace.dueNs
        guard let workload = trace.workload else { return }
        self.workload = workload
        writers.rowsPerCommit = max(1, workload.largestCommit)
        observers.count = workload.lasting.count
    }
}
