// Applies a trace to a trial.
import TidegaugeSpec

extension TrialSpec {
    /// Sets due times and, if recorded, the workload of a trace.
    mutating func follow(_ trace: Trace) {
        writers.traceNs = trace.dueNs
        guard let workload = trace.workload else { return }
        self.workload = workload
        writers.rowsPerCommit = max(1, workload.largestCommit)
        observers.count = workload.lasting.count
    }
}
