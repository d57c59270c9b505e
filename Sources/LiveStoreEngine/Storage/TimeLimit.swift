// Limits of time as callers give them, in seconds: any number is one. In the past: tried once. Without end, or further
// away than a clock counts: none.
import Glibc

/// Nanoseconds on CLOCK_MONOTONIC.
func monotonicNs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// How long to wait for something.
package enum TimeLimit: Equatable {
    case none
    /// From now on; 0 tries once.
    case ns(Int64)

    /// Longer is as good as for ever: two centuries, so that no sum with a clock overflows.
    private static let mostSeconds = 6e9

    /// - Parameter name: the argument, for the error.
    /// - Throws: `invalidTimeout` where it is no number.
    package init(seconds: Double?, _ name: String) throws(StoreError) {
        guard let seconds else {
            self = .none
            return
        }
        if seconds.isNaN { throw .invalidTimeout(name: name) }
        self = seconds > Self.mostSeconds ? .none : .ns(Int64(max(0, seconds) * 1e9))
    }

    package var seconds: Double {
        switch self {
        case .none: .infinity
        case .ns(let ns): Double(ns) / 1e9
        }
    }

    /// The point in time at which it is over.
    var deadlineNs: Int64 {
        switch self {
        case .none: .max
        case .ns(let ns): monotonicNs() + ns
        }
    }
}
