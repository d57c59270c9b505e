// Waits for a time on the monotonic clock: sleeps first and then, on request, spins. A deadline in the past returns at
// once, so that lateness is recorded.
import CStillingWellPlatform
import Glibc

/// Waits of the calling thread. Any thread.
public enum Pacing {
    /// A sleeping thread wakes this long before its deadline and spins: longer than the usual wake-up delay of an
    /// idle core (about 50 µs in a virtual machine).
    public static let spinWindowNs: Int64 = 150_000

    /// Clock reads of a spinning thread are tens of ns apart. From this gap on, the thread counts as not running.
    static let preemptedGapNs: Int64 = 10_000

    /// Lets sleeps of the calling thread end as precisely as the timer allows (default slack: 50 µs).
    public static func tightenTimerSlack() { cp_set_timer_slack_ns(1) }

    /// Sleeps until `deadlineNs` on the monotonic clock, also across signals.
    public static func sleep(untilNs deadlineNs: Int64) {
        guard deadlineNs > 0 else { return }
        var deadline = timespec(tv_sec: Int(deadlineNs / 1_000_000_000), tv_nsec: Int(deadlineNs % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &deadline, nil) == EINTR {}
    }

    /// Waits until `deadlineNs`. With `spin`, sleeps until `spinWindowNs` before it and then polls the clock;
    /// otherwise only sleeps and accepts the wake-up delay.
    /// - Returns: CPU time in ns spent spinning, to subtract from the thread's.
    @discardableResult
    public static func wait(untilNs deadlineNs: Int64, spin: Bool) -> Int64 {
        var now = MonotonicClock.nowNs()
        guard now < deadlineNs else { return 0 }
        guard spin else {
            sleep(untilNs: deadlineNs)
            return 0
        }
        if deadlineNs - now > spinWindowNs {
            sleep(untilNs: deadlineNs - spinWindowNs)
            now = MonotonicClock.nowNs()
        }
        var spunNs: Int64 = 0
        while now < deadlineNs {
            let next = MonotonicClock.nowNs()
            let gapNs = next - now
            if gapNs < preemptedGapNs { spunNs += gapNs }
            now = next
        }
        return spunNs
    }
}
