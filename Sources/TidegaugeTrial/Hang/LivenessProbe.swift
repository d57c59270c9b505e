// Distinguishes a process that hangs from one that gets no processor. A thread that could run is in state R, on a
// core or in a run queue; a hung thread sleeps and uses no CPU time.
import CStillingWellPlatform
import Glibc
import StillingWellSync
import TidegaugeHangs
import TidegaugeMeasure

package enum LivenessProbe {
    /// Prefixes of the names of threads that wake by the clock regardless of the load.
    private static let clockwork = ["hiccup", wakeFloorPrefix, "co-tenant"]
    /// Prefix of the names of the wake probe's threads.
    package static let wakeFloorPrefix = "floor-"
    private static let looks = 5
    private static let betweenLooksNs: Int64 = 20_000_000
    /// A quarter of the time between the first and the last sample.
    private static let workNs = Int64(looks - 1) * betweenLooksNs / 4

    /// Returns the names of threads at work, or an empty list if the process rests. It is at work if at least four of
    /// five samples, taken 20 ms apart, have a runnable thread, or if its threads have used a quarter of a core between
    /// the first and the last sample. Threads that hand a lock around, as all do under valgrind, are often missed in a
    /// runnable state, because the threads of a sample are read one after another.
    ///
    /// The caller, and threads that wake by the clock, do not count.
    /// - Parameter pid: this process or a child.
    package static func threads(of pid: Int32 = getpid()) -> [String] {
        let own = cp_thread_id()
        var (atWork, firstNs): ([Int32: String], [Int32: Int64]) = ([:], [:])
        var (busyLooks, totalNs): (Int, Int64) = (0, 0)
        for look in 0..<looks {
            if look > 0 { Pacing.sleep(untilNs: MonotonicClock.nowNs() + betweenLooksNs) }
            let counted = KernelView.threads(of: pid).filter { thread in
                thread.tid != own && !clockwork.contains { thread.name.hasPrefix($0) }
            }
            for thread in counted {
                let usedNs = thread.cpuNs - firstNs[thread.tid, default: look == 0 ? thread.cpuNs : 0]
                if look == 0 { firstNs[thread.tid] = thread.cpuNs }
                if look == looks - 1 { totalNs += usedNs }
                if thread.state == "R" || usedNs > 0 { atWork[thread.tid] = thread.name }
            }
            if counted.contains(where: { $0.state == "R" }) { busyLooks += 1 }
        }
        return busyLooks >= looks - 1 || totalNs >= workNs ? atWork.values.sorted() : []
    }
}

/// A hang deadline. It is extended while the process is at work, but only a limited number of times, so that an endless
/// computation also ends.
package struct HangDeadline {
    private let timeoutNs: Int64
    private let mostExtensions: Int
    private let child: Int32?
    package private(set) var endNs: Int64
    private var extensions = 0

    /// - Parameters:
    ///   - mostExtensions: maximum number of extensions, each by `timeoutNs`.
    ///   - child: process whose threads are inspected; nil: this process.
    package init(timeoutNs: Int64, mostExtensions: Int = 20, child: Int32? = nil) {
        (self.timeoutNs, self.mostExtensions, self.child) = (timeoutNs, mostExtensions, child)
        endNs = MonotonicClock.nowNs() + timeoutNs
    }

    /// Restarts the timeout after progress.
    package mutating func restart() {
        endNs = MonotonicClock.nowNs() + timeoutNs
        extensions = 0
    }

    /// Returns whether the time is over, and either the process rests or no extension is left. Extends the deadline
    /// if the time is over otherwise.
    package mutating func hasPassed() -> Bool {
        guard MonotonicClock.nowNs() > endNs else { return false }
        guard extensions < mostExtensions, !LivenessProbe.threads(of: child ?? getpid()).isEmpty else { return true }
        extensions += 1
        endNs = MonotonicClock.nowNs() + timeoutNs
        return false
    }
}
