// Times and intervals for Combine's operators. Arithmetic saturates.

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A time of a `PublisherScheduler`, on its clock.
public struct PublisherTime: Strideable, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public let ns: Int64

    /// Makes a time `ns` nanoseconds after the clock's start.
    public init(ns: Int64) { self.ns = ns }

    public func distance(to other: PublisherTime) -> Stride { Stride(ns: other.ns) - Stride(ns: ns) }
    public func advanced(by distance: Stride) -> PublisherTime { PublisherTime(ns: (Stride(ns: ns) + distance).ns) }

    /// An interval between two times. Literals are seconds.
    public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
        Hashable, Sendable
    {
        /// Nanoseconds. Negative values lead into the past.
        public let ns: Int64

        /// Makes an interval of `ns` nanoseconds.
        public init(ns: Int64) { self.ns = ns }

        public init(integerLiteral seconds: Int) { self = .seconds(seconds) }
        public init(floatLiteral seconds: Double) { self = .seconds(seconds) }
        public init?<Source: BinaryInteger>(exactly seconds: Source) {
            guard let seconds = Int(exactly: seconds) else { return nil }
            self = .seconds(seconds)
        }

        public static func seconds(_ s: Int) -> Stride { Stride(s, 1_000_000_000) }
        public static func milliseconds(_ ms: Int) -> Stride { Stride(ms, 1_000_000) }
        public static func microseconds(_ us: Int) -> Stride { Stride(us, 1_000) }
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(ns, 1) }

        /// Returns an interval of `s` seconds; 0 for NaN.
        public static func seconds(_ s: Double) -> Stride {
            let ns = (s * 1e9).rounded()
            if ns.isNaN { return Stride(ns: 0) }
            return Stride(ns: Int64(exactly: ns) ?? (ns < 0 ? .min : .max))
        }

        private init(_ count: Int, _ unitNs: Int64) {
            self.init(Int64(count).multipliedReportingOverflow(by: unitNs), isNegative: count < 0)
        }

        private init(_ result: (partialValue: Int64, overflow: Bool), isNegative: Bool) {
            ns = result.overflow ? (isNegative ? .min : .max) : result.partialValue
        }

        public var magnitude: Stride { ns < 0 ? Stride(ns: 0) - self : self }

        public static func < (a: Stride, b: Stride) -> Bool { a.ns < b.ns }

        public static func + (a: Stride, b: Stride) -> Stride {
            Stride(a.ns.addingReportingOverflow(b.ns), isNegative: a.ns < 0)
        }

        public static func - (a: Stride, b: Stride) -> Stride {
            Stride(a.ns.subtractingReportingOverflow(b.ns), isNegative: a.ns < 0)
        }

        /// One factor is a count, whose literal is read as seconds: `distance * 3` is three times as long.
        public static func * (a: Stride, b: Stride) -> Stride { .seconds(Double(a.ns) / 1e9 * Double(b.ns) / 1e9) }

        public static func *= (a: inout Stride, b: Stride) { a = a * b }
    }
}
