// Limits of time as callers give them, in seconds: any number is one. In the past: tried once. Without end, or further
// away than a clock counts: none.
import Glibc

/// Nanoseconds on a monotonic clock.
func monotonicNs(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// How long to wait for something.
struct TimeLimit {
    static let none = TimeLimit(ns: nil)

    /// From now on; 0 tries once, nil is no limit.
    private let ns: Int64?

    /// Longer is as good as for ever: two centuries, so that no sum with a clock overflows.
    private static let mostSeconds = 6e9

    private init(ns: Int64?) { self.ns = ns }

    /// What is left until a point in time.
    init(untilNs deadlineNs: Int64) { ns = deadlineNs == .max ? nil : max(0, deadlineNs - monotonicNs()) }

    /// - Parameter name: the argument, for the error.
    /// - Throws: `invalidTimeout` where it is no number.
    init(seconds: Double?, _ name: String) throws(StoreError) {
        let seconds = seconds ?? .infinity
        if seconds.isNaN { throw .invalidTimeout(name: name) }
        ns = seconds > Self.mostSeconds ? nil : Int64(max(0, seconds) * 1e9)
    }

    var seconds: Double { ns.map { Double($0) / 1e9 } ?? .infinity }

    /// The point in time at which it is over.
    var deadlineNs: Int64 { ns.map { monotonicNs() + $0 } ?? .max }
}
