// Numbers that travel with the entries of a tree, so that their sums, smallest and largest values stand in its nodes. What
// they are is known to whoever makes the tree; a tree without any pays for none.
//
//     an entry has    one word per column, a double's bits or an integer; and for an integer that may be missing a second
//                     word, 1 where it is there. A double is missing where it is not a number
//     a child has     a summary per column, of all entries below it
//
// A summary is always made from those below it, never by taking something off: a sum of doubles would not come back to
// what it was.

/// The columns whose values a tree has.
@usableFromInline
package struct Measures: Sendable, Equatable {
    /// So many columns have room in a tree.
    package static let most = 8

    /// Bit i: column i. None where nobody has kept the values: their room is there, and what stands in it means nothing.
    package private(set) var columns: UInt64 = 0
    let kinds: MeasureKinds

    /// No column.
    @usableFromInline
    package init() { kinds = MeasureKinds() }

    /// - Parameters:
    ///   - columns: bit i for column i, at most `most` of them.
    ///   - doubles: which of them are doubles; the others are integers.
    ///   - optionals: which of them may be missing.
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

    /// How many words an entry has.
    package var wordsPerEntry: Int { kinds.wordsPerEntry }
    package var isEmpty: Bool { kinds.count == 0 }

    /// The same room, where the values are not known any more.
    var forgotten: Measures {
        var copy = self
        copy.columns = 0
        return copy
    }

    /// The place of a column among those of the tree.
    func place(of column: Int) -> Int? {
        let bit = UInt64(1) << UInt64(column)
        return columns & bit == 0 ? nil : (columns & (bit - 1)).nonzeroBitCount
    }

    /// Calls `body` with each column: its number, where its words begin in those of an entry, and of what kind it is.
    package func forEach(_ body: (_ column: Int, _ word: Int, _ isDouble: Bool, _ isOptional: Bool) -> Void) {
        var left = columns
        for place in 0..<columns.nonzeroBitCount {
            body(left.trailingZeroBitCount, kinds.word(of: place), kinds.isDouble(place), kinds.isOptional(place))
            left &= left - 1
        }
    }
}

/// Of what kind the columns are, in their order: what a node has to know of them, in three bytes.
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

    /// Where the words of a column begin in those of an entry.
    func word(of place: Int) -> Int {
        place + (optionals & ~doubles & ((1 << UInt8(place)) &- 1)).nonzeroBitCount
    }
}
