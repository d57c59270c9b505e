// Detects deadlocks (cycles of waits) and standstill from a thread that takes no part. A cycle counts after 100 ms
// without change, because waits come and go and a snapshot is not instantaneous.
import StillingWellSync
import TidegaugeHangs
import TidegaugeMeasure
import TidegaugeTrial

struct Watchdog {
    static let confirmNs: Int64 = 100_000_000
    static let lookEveryNs: Int64 = 20_000_000
    /// Number of looks between two kernel snapshots, each of which reads files of every thread.
    private static let kernelEvery = 5

    private let subject: String
    private var progress = -1
    private var movedNs = MonotonicClock.nowNs()
    private var deadline: HangDeadline
    private var looks = 0
    private var kernel = WaitSnapshot(threads: [])
    private var seen: [(identity: Set<String>, firstNs: Int64)] = []

    /// - Parameter subject: the beginning of the sentence that reports a standstill.
    init(hangTimeoutNs: Int64, _ subject: String) {
        deadline = HangDeadline(timeoutNs: hangTimeoutNs)
        self.subject = subject
    }

    /// Looks once.
    /// - Parameter progress: a count that grows while the subject moves.
    /// - Returns: the hang, once a cycle has lasted for `confirmNs` or the timeout has passed.
    mutating func look(progress newProgress: Int) -> HangRecord? {
        let nowNs = MonotonicClock.nowNs()
        if newProgress != progress {
            progress = newProgress
            movedNs = nowNs
            deadline.restart()
        }
        if looks % Self.kernelEvery == 0 { kernel = KernelView.snapshot() }
        looks += 1
        let recorded = WaitSnapshot.recorded()
        // The kernel's snapshot can be older than the recorded one, so cycles are also searched in each of them alone.
        var circles: [(identity: Set<String>, firstNs: Int64)] = []
        for snapshot in [recorded, kernel, recorded.completed(by: kernel)] {
            for cycle in WaitForGraph(snapshot).cycles {
                let identity = cycle.identity
                if circles.contains(where: { $0.identity == identity }) { continue }
                let firstNs = seen.first { $0.identity == identity }?.firstNs ?? nowNs
                circles.append((identity, firstNs))
                if nowNs - firstNs >= Self.confirmNs {
                    let closedNs = cycle.links.map(\.waits.sinceNs).max() ?? 0
                    return HangReport.deadlock(cycle, closedNs: closedNs > 0 ? closedNs : firstNs, in: snapshot)
                }
            }
        }
        seen = circles
        if deadline.hasPassed() { return HangReport.stall(recorded.completed(by: kernel), sinceNs: movedNs, subject) }
        return nil
    }
}
