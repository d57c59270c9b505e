// Whether a process that says nothing hangs, or only has no processor. A thread that could run is in state R, on a core or
// in the queue for one; one that hangs sleeps. Looked at only where a time limit has passed.
import CStillingWellPlatform
import Glibc
import StillingWellSync
import TidegaugeMeasure

package enum LivenessProbe {
    /// Threads that come and go by the clock, whatever the rest does: the harness's own, and a store beside the one measured.
    private static let clockwork = ["hiccup", wakeFloorPrefix, "neighbour"]
    /// Names of the threads of the wake probe start so.
    package static let wakeFloorPrefix = "floor-"
    private static let looks = 5
    private static let betweenLooksNs: Int64 = 20_000_000

    /// Names of the threads, besides the caller's, that could run at nearly every one of a few looks within 100 ms.
    /// - Parameter pid: one's own process, or a child.
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

/// How long something may take. A machine that has no processor for the trial gets more time, but not for ever: what
/// computes without an end has to end too.
package struct HangDeadline {
    private let timeoutNs: Int64
    private let mostExtensions: Int
    private let child: Int32?
    package private(set) var endNs: Int64
    private var extensions = 0

    /// - Parameters:
    ///   - mostExtensions: by as much again each.
    ///   - child: the process that ought to be at work; nil is this one.
    package init(timeoutNs: Int64, mostExtensions: Int = 20, child: Int32? = nil) {
        (self.timeoutNs, self.mostExtensions, self.child) = (timeoutNs, mostExtensions, child)
        endNs = MonotonicClock.nowNs() + timeoutNs
    }

    /// Something has moved.
    package mutating func restart() {
        endNs = MonotonicClock.nowNs() + timeoutNs
        extensions = 0
    }

    /// Whether the time is over and nobody is at work.
    package mutating func hasPassed() -> Bool {
        guard MonotonicClock.nowNs() > endNs else { return false }
        guard extensions < mostExtensions, !LivenessProbe.threads(of: child ?? getpid()).isEmpty else { return true }
        extensions += 1
        endNs = MonotonicClock.nowNs() + timeoutNs
        return false
    }
}
