// Measures: column values stored with the entries of a tree, so that its nodes hold their aggregates. The tree's user
// defines the columns. A tree without measures stores neither of these:
//
//     entry   one word per column: an integer, or the bits of a double. An optional integer has a second word, which is
//             not 0 if there is a value. A missing double is NaN.
//     child   a summary per column, of all entries below it
//
// A changed summary is computed anew from the slots of the child. Nothing is subtracted, because a sum of doubles would
// not return to its earlier value.

/// The columns whose values a tree stores.
@usableFromInline
package struct Measures: Sendable, Equatable {
    /// Largest number of columns.
    package static let most = 8

    /// Bit i: column i. Also 0 if the stored values are no longer maintained: their words then mean nothing.
    package private(set) var columns: UInt64 = 0
    let kinds: MeasureKinds

    @usableFromInline
    package init() { kinds = MeasureKinds() }

    /// - Parameters:
    ///   - columns: bit i for column i, at most `most` of them.
    ///   - doubles: columns of doubles; the others are integers.
    ///   - optionals: columns whose values may be missing.
    package init(columns: UInt64, doubles: UInt64, optionals: UInt64) {
        precondition(columns.nonzeroBitCount <= Self.most, "a tree has room for the values of \(Self.most) columns")
        self.columns = columns
        var kinds = MeasureKinds()
        var left = columns
        while left != 0 {
            let bit = left & (~left &+ 1)
            kinds.add(isDouble: doubles & bit != 0, isOptional: optionals & bit != 0)
            left ^= bit
        }
        self.kinds = kinds
    }

    package var wordsPerEntry: Int { kinds.wordsPerEntry }
    package var isEmpty: Bool { kinds.count == 0 }

    /// Same layout with values that are no longer maintained.
    var forgotten: Measures {
        var copy = self
        copy.columns = 0
        return copy
    }

    /// Returns the position of a column among those of the tree, or nil.
    func place(of column: Int) -> Int? {
        let bit = UInt64(1) << UInt64(column)
        return columns & bit == 0 ? nil : (columns & (bit - 1)).nonzeroBitCount
    }

    /// Calls `body` with each column's number, its first word within an entry, and its kind.
    package func forEach(_ body: (_ column: Int, _ word: Int, _ isDouble: Bool, _ isOptional: Bool) -> Void) {
        var left = columns
        for place in 0..<columns.nonzeroBitCount {
            body(left.trailingZeroBitCount, kinds.word(of: place), kinds.isDouble(place), kinds.isOptional(place))
            left &= left - 1
        }
    }
}

/// The kinds of the columns, in order: the part that each node stores, in three bytes.
struct MeasureKinds: Sendable, Equatable {
    private(set) var count: UInt8 = 0
    private var doubles: UInt8 = 0
    private var optionals: UInt8 = 0

    mutating func add(isDouble: Bool, isOptional: Bool) {
        if isDouble { doubles |= 1 << count }
        if isOptional { optionals |= 1 << count }
        count += 1
    }

    func isDouble(_ place: Int) -> Bool { doubles & (1 << UInt8(place)) != 0 }
    func isOptional(_ place: Int) -> Bool { optionals & (1 << UInt8(place)) != 0 }

    var wordsPerEntry: Int { word(of: Int(count)) }

    /// Returns the first word of a column within an entry.
    func word(of place: Int) -> Int {
        place + (optionals & ~doubles & ((1 << UInt8(place)) &- 1)).nonzeroBitCount
    }
}
