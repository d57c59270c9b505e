// One page of the engine's file as it is mapped: branch or leaf of a table. LMDB's format, data version 1, which the meta page
// of a file names:
//
//     page    0 number (8), 10 kind (2), 12 end of the offsets (2), 16 offsets of the entries in order of their keys (2 each)
//             of a value in pages of its own: 12 how many pages (4), 16 the value
//     entry   of a leaf: 0 length of the value (4), 4 flags (2), 6 length of the key (2), 8 key, value
//             of a branch: 0 number of the page below (6), 6 length of the key (2), 8 key; the first one's key is below all
//     table   40 number of the root (8): the value of its name in the tree of tables
//     meta    16 magic (4), 20 version (4), 40 bytes of a page (4)
//
// Everything read is inside of the page, whatever it holds.
import Glibc

struct MappedPage {
    static let bytes = 4_096
    static let headerBytes = 16
    /// More do not fit, even with keys and values of no length.
    static let maxEntries = (bytes - headerBytes) / 10
    private static let entryBytes = 8
    /// Among so many, halving finds one as quickly as guessing.
    private static let fewEntries = 8
    // What a page can be, in the bits that say so; others are the engine's while it writes.
    private static let branch: UInt16 = 1
    private static let leaf: UInt16 = 2
    private static let ownPages: UInt16 = 4
    private static let meta: UInt16 = 8
    private static let kinds: UInt16 = 0x2f

    let base: UnsafeRawPointer
    let isBranch: Bool
    let count: Int

    /// nil where it is not the page of this number, or neither branch nor leaf.
    @inline(__always)
    init?(_ base: UnsafeRawPointer, _ number: UInt64) {
        guard base.load(as: UInt64.self) == number else { return nil }
        let kind = base.load(fromByteOffset: 10, as: UInt16.self) & Self.kinds
        guard kind == Self.branch || kind == Self.leaf else { return nil }
        let end = Int(base.load(fromByteOffset: 12, as: UInt16.self))
        guard end > Self.headerBytes, end <= Self.headerBytes + 2 * Self.maxEntries else { return nil }
        self.base = base
        isBranch = kind == Self.branch
        count = (end &- Self.headerBytes) >> 1
    }

    /// How many pages a value has that begins at `base`; nil where none does.
    static func ownPages(at base: UnsafeRawPointer, _ number: UInt64) -> UInt64? {
        guard base.load(as: UInt64.self) == number,
            base.load(fromByteOffset: 10, as: UInt16.self) & kinds == ownPages
        else { return nil }
        return UInt64(base.load(fromByteOffset: 12, as: UInt32.self))
    }

    /// Whether a file begins here that is of this format.
    static func isFormat(_ base: UnsafeRawPointer) -> Bool {
        base.load(as: UInt64.self) == 0 && base.load(fromByteOffset: 10, as: UInt16.self) & meta != 0
            && base.load(fromByteOffset: 16, as: UInt32.self) == 0xbeef_c0de
            && base.load(fromByteOffset: 20, as: UInt32.self) == 1
            && base.load(fromByteOffset: 40, as: UInt32.self) == UInt32(bytes)
    }

    struct Entry {
        let base: UnsafeRawPointer

        @inline(__always) var id: UInt64 { base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
        @inline(__always) var keyCount: Int { Int(base.loadUnaligned(fromByteOffset: 6, as: UInt16.self)) }
        @inline(__always) var byteCount: Int { Int(base.loadUnaligned(as: UInt32.self)) }
        @inline(__always) var hasOwnPages: Bool { base.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == 1 }
        /// A value's that has pages of its own; nil where the key is none of an id.
        var firstOwnPage: UInt64? { keyCount == 8 ? base.loadUnaligned(fromByteOffset: 16, as: UInt64.self) : nil }
    }

    /// Of an offset that leads out of the page, the page's own begin: its key is found nowhere, its value does not fit.
    @inline(__always)
    func entry(_ index: Int) -> Entry {
        let offset = Int(base.load(fromByteOffset: Self.headerBytes &+ 2 &* index, as: UInt16.self))
        return Entry(base: base + (offset <= Self.bytes &- Self.entryBytes &- 8 ? offset : 0))
    }

    /// The id and the row of an entry whose key is an id and whose row lies behind it, all in the page; nil of any other entry.
    @inline(__always)
    func plainEntry(_ index: Int) -> (id: UInt64, base: UnsafeRawPointer, count: Int)? {
        let offset = Int(base.load(fromByteOffset: Self.headerBytes &+ 2 &* index, as: UInt16.self))
        let rowOffset = offset &+ Self.entryBytes &+ 8
        guard rowOffset <= Self.bytes, case let entry = base + offset,
            // No flags, and a key of eight bytes.
            entry.loadUnaligned(fromByteOffset: 4, as: UInt32.self) == 8 << 16,
            case let count = Int(entry.loadUnaligned(as: UInt32.self)), rowOffset &+ count <= Self.bytes
        else { return nil }
        return (
            entry.loadUnaligned(fromByteOffset: Self.entryBytes, as: UInt64.self), base + rowOffset, count
        )
    }

    /// Visits the rows of a leaf one after another, where they lie.
    /// - Returns: false at the first entry that is not plain: what has been visited by then is to be forgotten.
    @inline(__always)
    func forEachPlainRow(_ body: (_ base: UnsafeRawPointer, _ byteCount: Int) -> Void) -> Bool {
        var index = 0
        while index < count {
            guard let row = plainEntry(index) else { return false }
            body(row.base, row.count)
            index &+= 1
        }
        return true
    }

    /// The value in a leaf; nil where it is not all in the page.
    @inline(__always)
    func value(_ entry: Entry) -> UnsafeRawBufferPointer? {
        let start = Self.entryBytes &+ entry.keyCount
        let count = entry.byteCount
        guard entry.base.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == 0, entry.base != base,
            (entry.base - base) &+ start &+ count <= Self.bytes
        else { return nil }
        return UnsafeRawBufferPointer(start: entry.base + start, count: count)
    }

    /// The number of the page below; none there is, where the entry is not in the page. The first entry may have no key.
    @inline(__always)
    func child(_ index: Int) -> UInt64 {
        let offset = Int(base.load(fromByteOffset: Self.headerBytes &+ 2 &* index, as: UInt16.self))
        guard offset >= Self.headerBytes, offset <= Self.bytes &- Self.entryBytes else { return .max }
        return base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0xffff_ffff_ffff
    }

    // MARK: Searching

    /// The first entry whose key is not below `key`, from `start` on.
    @inline(__always)
    func lowerBound(_ key: some PageKey) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low &+ high) >> 1
            if key.isAbove(entry(middle)) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    @inline(__always)
    func index(of key: some PageKey) -> Int? {
        if let index = key.guess(entry(0), count), key.isEqual(entry(index)) { return index }
        let index = lowerBound(key)
        return index < count && key.isEqual(entry(index)) ? index : nil
    }

    /// Where a branch leads to a key: the last entry that is not above it.
    @inline(__always)
    func childIndex(_ key: some PageKey) -> Int {
        var (low, high) = (1, count)
        if count > Self.fewEntries {
            // Numbers mostly lie as far apart everywhere: the entry in question, or one beside it.
            let guess = key.guess(between: entry(1), entry(count &- 1), count)
            if key.isBelow(entry(guess)) {
                high = guess
                if guess > 1, !key.isBelow(entry(guess &- 1)) { low = guess }
            } else {
                low = guess &+ 1
                if low < count, key.isBelow(entry(low)) { high = low }
            }
        }
        while low < high {
            let middle = (low &+ high) >> 1
            if key.isBelow(entry(middle)) { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }
}

/// A key as the engine orders them.
protocol PageKey {
    func isBelow(_ entry: MappedPage.Entry) -> Bool
    func isAbove(_ entry: MappedPage.Entry) -> Bool
    func isEqual(_ entry: MappedPage.Entry) -> Bool
    /// Where the key probably stands in a leaf, given its first entry.
    func guess(_ first: MappedPage.Entry, _ count: Int) -> Int?
    /// Where a branch of `count` entries probably leads to the key, given its second entry and its last: an entry from the second on.
    func guess(between second: MappedPage.Entry, _ last: MappedPage.Entry, _ count: Int) -> Int
}

/// Where a number probably stands among others that ascend from `first` to `last`, which are `count`, the first being number 1.
@inline(__always)
private func guess(_ number: UInt64, _ first: UInt64, _ last: UInt64, _ count: Int) -> Int {
    // What is beyond 32 bits is not worth a wider product: whatever comes out is a guess.
    guard number > first, number < last, (last &- first) >> 32 == 0 else { return number < last ? 1 : count &- 1 }
    return 1 &+ Int(truncatingIfNeeded: (number &- first) &* UInt64(count &- 2) / (last &- first))
}

struct IDKey: PageKey {
    let id: UInt64

    @inline(__always)
    func isBelow(_ entry: MappedPage.Entry) -> Bool { id < entry.id }
    @inline(__always)
    func isAbove(_ entry: MappedPage.Entry) -> Bool { id > entry.id }
    @inline(__always)
    func isEqual(_ entry: MappedPage.Entry) -> Bool { id == entry.id && entry.keyCount == 8 }

    /// Most ids follow each other without a gap.
    @inline(__always)
    func guess(_ first: MappedPage.Entry, _ count: Int) -> Int? {
        let index = Int(truncatingIfNeeded: id &- first.id)
        return index >= 0 && index < count ? index : nil
    }

    @inline(__always)
    func guess(between second: MappedPage.Entry, _ last: MappedPage.Entry, _ count: Int) -> Int {
        StillingWell.guess(id, second.id, last.id, count)
    }
}

/// Eight bytes, as numbers are keys: compared as one number.
struct NumberKey: PageKey {
    private let number: UInt64

    /// Of the bytes as a number, the first of them the most significant.
    init(_ number: UInt64) { self.number = number }

    @inline(__always)
    private func other(_ entry: MappedPage.Entry) -> UInt64 { UInt64(bigEndian: entry.id) }
    @inline(__always)
    func isBelow(_ entry: MappedPage.Entry) -> Bool { number < other(entry) }
    @inline(__always)
    func isAbove(_ entry: MappedPage.Entry) -> Bool { number > other(entry) }
    @inline(__always)
    func isEqual(_ entry: MappedPage.Entry) -> Bool { number == other(entry) && entry.keyCount == 8 }

    /// Keys that a program counts up follow each other without a gap, too.
    @inline(__always)
    func guess(_ first: MappedPage.Entry, _ count: Int) -> Int? {
        let index = Int(truncatingIfNeeded: number &- other(first))
        return index >= 0 && index < count ? index : nil
    }

    @inline(__always)
    func guess(between second: MappedPage.Entry, _ last: MappedPage.Entry, _ count: Int) -> Int {
        StillingWell.guess(number, other(second), other(last), count)
    }
}
