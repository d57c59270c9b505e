// Clocks of the kernel in nanoseconds. Times of CLOCK_MONOTONIC are comparable between processes of one host. Unlike
// the wall clock, it does not step.
import Glibc

/// Reads CLOCK_MONOTONIC and other clocks of the kernel. Any thread.
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary point that is the same for every process since boot.
    @inlinable
    public static func nowNs() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Returns the time of any kernel clock, such as a thread's CPU time, in nanoseconds.
    @inlinable
    public static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
