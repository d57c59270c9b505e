// Time limits in seconds, as callers give them. A limit of 0 or less tries once, an infinite or too large one is none.
import Glibc

/// Nanoseconds on a monotonic clock.
func monotonicNs(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A limit for waiting.
struct TimeLimit {
    static let none = TimeLimit(ns: nil)

    /// Nanoseconds from now. 0 tries once, nil is no limit.
    private let ns: Int64?

    /// Largest finite limit, two centuries, so that a sum with a clock cannot overflow.
    private static let mostSeconds = 6e9

    private init(ns: Int64?) { self.ns = ns }

    /// The time left until a deadline.
    init(untilNs deadlineNs: Int64) { ns = deadlineNs == .max ? nil : max(0, deadlineNs - monotonicNs()) }

    /// - Parameter name: name of the argument, for the error.
    /// - Throws: `invalidTimeout` if the value is not a number.
    init(seconds: Double?, _ name: String) throws(StoreError) {
        let seconds = seconds ?? .infinity
        if seconds.isNaN { throw .invalidTimeout(name: name) }
        ns = seconds > Self.mostSeconds ? nil : Int64(max(0, seconds) * 1e9)
    }

    var seconds: Double { ns.map { Double($0) / 1e9 } ?? .infinity }

    /// Deadline on the monotonic clock, counted from now.
    var deadlineNs: Int64 { ns.map { monotonicNs() + $0 } ?? .max }
}
