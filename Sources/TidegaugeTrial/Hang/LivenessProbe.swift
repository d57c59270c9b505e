// Distinguishes a process that hangs from one that gets no processor. A thread that could run is in state R, on a
// core or in a run queue; a hung thread sleeps. Used only after a time limit has passed.
import CStillingWellPlatform
import Glibc
import StillingWellSync
import TidegaugeHangs
import TidegaugeMeasure

package enum LivenessProbe {
    /// Prefixes of threads that wake by the clock regardless of the load: threads of the harness and of a second store.
    private static let clockwork = ["hiccup", wakeFloorPrefix, "co-tenant"]
    /// Prefix of the names of the wake probe's threads.
    package static let wakeFloorPrefix = "floor-"
    private static let looks = 5
    private static let betweenLooksNs: Int64 = 20_000_000

    /// Returns the names of the threads, except the caller and those that wake by the clock, that were runnable in at
    /// least four of five samples, taken 20 ms apart.
    /// - Parameter pid: this process or a child.
    package static func threads(of pid: Int32 = getpid()) -> [String] {
        var seen: [Int32: (name: String, count: Int)] = [:]
        for look in 0..<looks {
            if look > 0 { Pacing.sleep(untilNs: MonotonicClock.nowNs() + betweenLooksNs) }
            for thread in KernelView.threads(of: pid) where thread.state == "R" {
                seen[thread.tid, default: (thread.name, 0)].count += 1
            }
        }
        let own = cp_thread_id()
        return seen.filter { tid, thread in
            tid != own && thread.count >= looks - 1 && !clockwork.contains { thread.name.hasPrefix($0) }
        }.map(\.value.name).sorted()
    }
}

/// A hang deadline. It is extended while the process has runnable threads, but only a limited number of times, so
/// that an endless computation also ends.
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

    /// Returns whether the time is over, and either no thread is runnable or no extension is left. Extends the deadline
    /// if the time is over otherwise.
    package mutating func hasPassed() -> Bool {
        guard MonotonicClock.nowNs() > endNs else { return false }
        guard extensions < mostExtensions, !LivenessProbe.threads(of: child ?? getpid()).isEmpty else { return true }
        extensions += 1
        endNs = MonotonicClock.nowNs() + timeoutNs
        return false
    }
}
