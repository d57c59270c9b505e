// Limits for waiting, made of durations or deadlines that callers give. A limit of 0 or less tries once.
import Glibc

/// Nanoseconds of a clock.
func monotonicNs(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

struct TimeLimit {
    static let none = TimeLimit(ns: nil)

    /// Nanoseconds from now. 0 tries once, nil is no limit.
    let ns: Int64?

    /// Largest limit, about 190 years, so that a sum with a clock cannot overflow.
    private static let most = Duration.seconds(6_000_000_000)

    private init(ns: Int64?) { self.ns = ns }

    /// The time left until a deadline.
    init(untilNs deadlineNs: Int64) { ns = deadlineNs == .max ? nil : max(0, deadlineNs - monotonicNs()) }

    /// - Parameter duration: nil, or more than `most`, is no limit.
    init(_ duration: Duration?) {
        guard let duration, duration <= Self.most else {
            ns = nil
            return
        }
        let (seconds, attoseconds) = max(duration, .zero).components
        ns = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The limit as errors state it.
    var duration: Duration { .nanoseconds(ns ?? .max) }

    /// Deadline on the monotonic clock, counted from now.
    var deadlineNs: Int64 { ns.map { monotonicNs() + $0 } ?? .max }
}
