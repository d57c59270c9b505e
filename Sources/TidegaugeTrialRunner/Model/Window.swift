// The measured window of a trial, and its progress.
import TidegaugeMeasure
import TidegaugeTrial

/// The measured window on the monotonic clock: commits due in it are measured.
struct Window: Sendable {
    var startNs: Int64
    var endNs: Int64

    var lengthNs: Int64 { endNs - startNs }

    func contains(_ dueNs: Int64) -> Bool { dueNs >= startNs && dueNs < endNs }
}

extension TrialProgress {
    /// Progress during the load; `fraction` is negative in the warm-up.
    init(_ phase: Phase, window: Window, commits: Int, callbacks: Int) {
        self.init(phase)
        fraction = Double(MonotonicClock.nowNs() - window.startNs) / Double(max(window.lengthNs, 1))
        (self.commits, self.callbacks) = (commits, callbacks)
    }
}
