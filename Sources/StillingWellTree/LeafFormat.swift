// The format of a leaf's entries, which have three words: prefix, id and stamp. A narrow leaf stores the upper halves
// of the three words once, and 12 bytes per entry. A wide leaf stores 24 bytes per entry. Many leaves can be narrow:
// neighbours in an order have similar prefixes, and few stores have given out 2³² ids or versions. A leaf that gets an
// entry with other upper halves becomes wide.

struct LeafFormat: Equatable {
    /// A word of an entry. Raw values are the order of the arrays.
    enum Word: Int {
        case prefix, id, stamp
    }

    /// Narrow leaf: the upper half is that of the prefixes, and the lower half is the upper half of the ids. 0 in a
    /// wide leaf.
    private let keys: UInt64
    /// Narrow leaf: the upper half is that of the stamps. The low bits are log2 of the word size: 2 (4 bytes) or 3 (8
    /// bytes).
    private let stamps: UInt64

    private static let upperHalf: UInt64 = ~0 << 32
    static let wide = LeafFormat(keys: 0, stamps: 3)

    @inline(__always)
    private init(keys: UInt64, stamps: UInt64) { (self.keys, self.stamps) = (keys, stamps) }

    /// Makes the narrow format that holds an entry.
    @inline(__always)
    init(prefix: UInt64, id: UInt64, stamp: UInt64) {
        self.init(keys: prefix & Self.upperHalf | id >> 32, stamps: stamp & Self.upperHalf | 2)
    }

    var isNarrow: Bool { @inline(__always) get { stamps & 1 == 0 } }

    @inline(__always)
    func bytes(_ count: Int) -> Int { count &<< Int(truncatingIfNeeded: stamps & 3) }

    /// Returns a word with the upper half that a narrow leaf's words have in common, and a lower half of 0.
    @inline(__always)
    func upper(_ word: Word) -> UInt64 {
        switch word {
        case .prefix: keys & Self.upperHalf
        case .id: keys << 32
        case .stamp: stamps & Self.upperHalf
        }
    }

    /// Returns this format if it can hold the entry, else the wide one.
    @inline(__always)
    func holding(prefix: UInt64, id: UInt64, stamp: UInt64) -> LeafFormat {
        !isNarrow || self == LeafFormat(prefix: prefix, id: id, stamp: stamp) ? self : .wide
    }

    /// Returns a format that can hold the entries of both leaves.
    func joined(with other: LeafFormat) -> LeafFormat { self == other ? self : .wide }
}
