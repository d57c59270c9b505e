// Aggregates over numbers of many rows.

/// Aggregates of integers. The sum is exact: it has 128 bits.
@usableFromInline
package struct IntegerSummary: Sendable, Equatable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: Int64 = 0
    @usableFromInline package private(set) var count = 0
    @usableFromInline var smallest = Int.max
    @usableFromInline var largest = Int.min

    @inlinable
    package init() {}

    @inlinable @inline(__always)
    package mutating func add(_ value: Int) {
        addToSum(UInt64(bitPattern: Int64(value)), value < 0 ? -1 : 0)
        count &+= 1
        if value < smallest { smallest = value }
        if value > largest { largest = value }
    }

    /// Adds `count` values with these aggregates.
    package mutating func add(_ sum: Int, of count: Int, from smallest: Int, to largest: Int) {
        addToSum(UInt64(bitPattern: Int64(sum)), sum < 0 ? -1 : 0)
        self.count &+= count
        self.smallest = Swift.min(self.smallest, smallest)
        self.largest = Swift.max(self.largest, largest)
    }

    @inline(__always)
    mutating func add(_ other: IntegerSummary) {
        addToSum(other.low, other.high)
        count &+= other.count
        if other.smallest < smallest { smallest = other.smallest }
        if other.largest > largest { largest = other.largest }
    }

    @inlinable @inline(__always)
    mutating func addToSum(_ otherLow: UInt64, _ otherHigh: Int64) {
        let (sum, carry) = low.addingReportingOverflow(otherLow)
        low = sum
        high = high &+ otherHigh &+ (carry ? 1 : 0)
    }

    private var exactSum: Int? { high == Int64(bitPattern: low) >> 63 ? Int(bitPattern: UInt(low)) : nil }
    /// Sum of the integers. Outside of the range of `Int`, its nearest end.
    package var sum: Int { exactSum ?? (high < 0 ? .min : .max) }

    /// Mean of the integers. nil if there are none.
    package var mean: Double? {
        count == 0 ? nil : (exactSum.map(Double.init) ?? Double(high) * 0x1p64 + Double(low)) / Double(count)
    }
    package var min: Int? { count == 0 ? nil : smallest }
    package var max: Int? { count == 0 ? nil : largest }
}

/// Aggregates of doubles. The sum is kept in two numbers, the second being the sum of the rounding errors of the first
/// (D. E. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B). The order of addition may change the last bits
/// of the sum. A sum that leaves the range of `Double` becomes infinite, and no finite number brings it back.
@usableFromInline
package struct DoubleSummary: Sendable, Equatable {
    @usableFromInline var rounded = 0.0
    @usableFromInline var rest = 0.0
    @usableFromInline package private(set) var count = 0
    @usableFromInline var smallest = Double.infinity
    @usableFromInline var largest = -Double.infinity

    @inlinable
    package init() {}

    /// Adds a number. NaN is ignored.
    @inlinable @inline(__always)
    package mutating func add(_ value: Double) {
        if value.isNaN { return }
        addToSum(value)
        count &+= 1
        if value < smallest { smallest = value }
        if value > largest { largest = value }
    }

    @inline(__always)
    mutating func add(_ other: DoubleSummary) {
        addToSum(other.rounded)
        rest += other.rest
        count &+= other.count
        if other.smallest < smallest { smallest = other.smallest }
        if other.largest > largest { largest = other.largest }
    }

    @inlinable @inline(__always)
    mutating func addToSum(_ value: Double) {
        let sum = rounded + value
        let part = sum - rounded
        rest += (rounded - (sum - part)) + (value - part)
        rounded = sum
    }

    package var sum: Double { rounded.isFinite ? rounded + rest : rounded }
    /// Mean of the numbers. nil if there are none.
    package var mean: Double? { count == 0 ? nil : sum / Double(count) }
    package var min: Double? { count == 0 ? nil : smallest }
    package var max: Double? { count == 0 ? nil : largest }
}

/// Aggregates of the numbers of one column.
@usableFromInline
package enum MeasureSummary: Sendable, Equatable {
    case integers(IntegerSummary)
    case doubles(DoubleSummary)
}

#if DEBUG
    extension DoubleSummary {
        /// Whether both are equal. The sum of opposite infinities is NaN, which does not equal itself.
        func isSame(as other: DoubleSummary) -> Bool {
            func isSame(_ a: Double, _ b: Double) -> Bool { a == b || a.isNaN && b.isNaN }
            return isSame(rounded, other.rounded) && isSame(rest, other.rest) && count == other.count
                && smallest == other.smallest && largest == other.largest
        }
    }
#endif
