// How a leaf has the three words of its entries: prefix, id and stamp. In most leaves the upper halves of all prefixes are one,
// and so are those of all ids and of all stamps: neighbours in an order are near each other, and few stores have given out four
// thousand million ids or versions. Such a leaf is narrow: it has the upper halves once and of each entry the lower ones, 12 bytes
// in place of 24. One that an entry comes to with other halves becomes wide, and stays so.

struct LeafFormat: Equatable {
    /// In the order of the arrays.
    enum Word: Int {
        case prefix, id, stamp
    }

    /// The upper half of the prefixes where it is, and below it that of the ids; 0 in a wide leaf.
    private let keys: UInt64
    /// The upper half of the stamps where it is, and 2 for words of four bytes, 3 for such of eight.
    private let stamps: UInt64

    private static let upperHalf: UInt64 = ~0 << 32
    static let wide = LeafFormat(keys: 0, stamps: 3)

    @inline(__always)
    private init(keys: UInt64, stamps: UInt64) { (self.keys, self.stamps) = (keys, stamps) }

    /// The narrow one that holds an entry.
    @inline(__always)
    init(prefix: UInt64, id: UInt64, stamp: UInt64) {
        self.init(keys: prefix & Self.upperHalf | id >> 32, stamps: stamp & Self.upperHalf | 2)
    }

    var isNarrow: Bool { @inline(__always) get { stamps & 1 == 0 } }

    /// Of so many words.
    @inline(__always)
    func bytes(_ count: Int) -> Int { count &<< Int(truncatingIfNeeded: stamps & 3) }

    /// The upper half of a narrow leaf's words, in its place.
    @inline(__always)
    func upper(_ word: Word) -> UInt64 {
        switch word {
        case .prefix: keys & Self.upperHalf
        case .id: keys << 32
        case .stamp: stamps & Self.upperHalf
        }
    }

    /// This one where it holds an entry, else the wide one.
    @inline(__always)
    func holding(prefix: UInt64, id: UInt64, stamp: UInt64) -> LeafFormat {
        !isNarrow || self == LeafFormat(prefix: prefix, id: id, stamp: stamp) ? self : .wide
    }

    /// What holds the entries of two leaves.
    func joined(with other: LeafFormat) -> LeafFormat { self == other ? self : .wide }
}
