// Looks for closed circles and for standstill, from a thread that takes no part. A circle counts once it has been seen
// unchanged for 100 ms: waits come and go, and a look is no instant.
import StillingWellSync
import TidegaugeMeasure
import TidegaugeTrial

struct Watchdog {
    static let confirmNs: Int64 = 100_000_000
    static let lookEveryNs: Int64 = 20_000_000
    /// The kernel is asked by reading a file per thread.
    private static let kernelEvery = 5

    private let subject: String
    private var progress = -1
    private var movedNs = MonotonicClock.nowNs()
    private var deadline: HangDeadline
    private var looks = 0
    private var kernel = WaitSnapshot(threads: [])
    private var seen: [(identity: Set<String>, firstNs: Int64)] = []

    /// - Parameter subject: what does not move, as the start of a sentence.
    init(hangTimeoutNs: Int64, _ subject: String) {
        deadline = HangDeadline(timeoutNs: hangTimeoutNs)
        self.subject = subject
    }

    /// One look.
    /// - Parameter progress: counts whatever must move.
    /// - Returns: what is wrong, once it is certain.
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
        // What the kernel said a moment ago must not be mixed with what is recorded now: circles of either are looked for.
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
