// Waiting for a moment on the monotonic clock: sleep most of the way, spin the rest where a core is free. It decides
// nothing about schedules; a deadline in the past returns at once, so lateness shows and is never forgiven.
import CStillingWellPlatform
import Glibc

/// Waits of the calling thread. Any thread; each call concerns the caller alone.
public enum Pacing {
    /// A sleeping thread is woken this long before its deadline and spins the rest: longer than the usual wake-up
    /// delay of an idle core (some 50 µs with a virtual machine's exit), short enough to cost little.
    public static let spinWindowNs: Int64 = 150_000

    /// Between two clock reads of a spinning thread lie tens of nanoseconds. A longer gap means that the thread was
    /// not running, and the gap is not CPU time.
    static let preemptedGapNs: Int64 = 10_000

    /// Lets sleeps of the calling thread end as near their deadline as the timer allows (the default slack is 50 µs).
    /// Call once at the start of every thread that paces.
    public static func tightenTimerSlack() { cp_set_timer_slack_ns(1) }

    /// Sleeps until `deadlineNs` on the monotonic clock; signals do not shorten it.
    public static func sleep(untilNs deadlineNs: Int64) {
        guard deadlineNs > 0 else { return }
        var deadline = timespec(tv_sec: Int(deadlineNs / 1_000_000_000), tv_nsec: Int(deadlineNs % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &deadline, nil) == EINTR {}
    }

    /// Waits until `deadlineNs`. With `spin`, sleeps to `spinWindowNs` before it and polls the clock from there;
    /// without, sleeps all the way and accepts the wake-up delay.
    /// - Returns: CPU time in ns that went into spinning, to be taken off the thread's account.
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
