// One mapped page of LMDB's file, a branch or a leaf of a table, in LMDB's data version 1:
//
//     page    0 number (8), 10 kind (2), 12 end of the offsets (2), 16 offsets of the entries in key order (2 each)
//             of an overflow value: 12 number of its pages (4), 16 the value
//     entry   of a leaf: 0 length of the value (4), 4 flags (2), 6 length of the key (2), 8 key, value
//             of an index with several values: 4 flags (2), 6 length of the key (2), 8 key, a page with the values
//             of a branch: 0 number of the page below (6), 6 length of the key (2), 8 key; the first key is unused
//     table   40 number of the root (8): the value of its name in the tree of tables
//     meta    16 magic (4), 20 version (4), 40 bytes of a page (4)
//
// Reads stay inside of the page, whatever it holds.
import Glibc

struct MappedPage {
    static let bytes = 4_096
    static let headerBytes = 16
    /// Upper bound of entries in a page, reached with keys and values of length 0.
    static let maxEntries = (bytes - headerBytes) / 10
    private static let entryBytes = 8
    /// Number of entries up to which a binary search is as fast as a guess.
    private static let fewEntries = 8
    // Flags of the page kind. Other bits are used by LMDB while it writes.
    private static let branch: UInt16 = 1
    private static let leaf: UInt16 = 2
    private static let ownPages: UInt16 = 4
    private static let meta: UInt16 = 8
    private static let kinds: UInt16 = 0x2f
    /// Flag of an entry with several values in its page.
    private static let severalValues: UInt16 = 4

    let base: UnsafeRawPointer
    let isBranch: Bool
    let count: Int

    /// Returns nil if the page has another number, is neither branch nor leaf, or its offsets end out of range.
    @inline(__always)
    init?(_ base: UnsafeRawPointer, _ number: UInt64) {
        guard base.load(as: UInt64.self) == number else { return nil }
        let kind = base.load(fromByteOffset: 10, as: UInt16.self) & Self.kinds
        guard kind == Self.branch || kind == Self.leaf else { return nil }
        let end = Int(base.load(fromByteOffset: 12, as: UInt16.self))
        guard end > Self.headerBytes, end <= Self.headerBytes + 2 * Self.maxEntries, end & 1 == 0 else { return nil }
        self.base = base
        isBranch = kind == Self.branch
        count = (end &- Self.headerBytes) >> 1
    }

    /// Number of overflow pages of the value that begins at `base`, or nil if no overflow value begins there.
    static func ownPages(at base: UnsafeRawPointer, _ number: UInt64) -> UInt64? {
        guard base.load(as: UInt64.self) == number,
            base.load(fromByteOffset: 10, as: UInt16.self) & kinds == ownPages
        else { return nil }
        return UInt64(base.load(fromByteOffset: 12, as: UInt32.self))
    }

    /// Returns whether a file of this format begins at `base`.
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
    }

    /// First overflow page of an entry's value, or nil if the key does not have eight bytes or the number is not in the
    /// page.
    func firstOwnPage(_ entry: Entry) -> UInt64? {
        guard entry.keyCount == 8, entry.base - base <= Self.bytes &- Self.entryBytes &- 16 else { return nil }
        return entry.base.loadUnaligned(fromByteOffset: Self.entryBytes &+ 8, as: UInt64.self)
    }

    /// Entry at an index. If its offset is too near the page's end, the page's start, which matches no key.
    @inline(__always)
    func entry(_ index: Int) -> Entry {
        let offset = Int(base.load(fromByteOffset: Self.headerBytes &+ 2 &* index, as: UInt16.self))
        return Entry(base: base + (offset <= Self.bytes &- Self.entryBytes &- 8 ? offset : 0))
    }

    /// Id and row of an entry that has an id as its key and its whole row in the page. Returns nil for any other entry.
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

    /// Visits the rows of a leaf in place.
    /// - Returns: false at the first entry that has flags, or no key of eight bytes, or is not wholly in the page. The
    ///   caller then has to discard what was visited.
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

    /// Value of an entry of a leaf, or nil if it has flags or is not wholly in the page.
    @inline(__always)
    func value(_ entry: Entry) -> UnsafeRawBufferPointer? {
        let start = Self.entryBytes &+ entry.keyCount
        let count = entry.byteCount
        guard entry.base.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == 0, entry.base != base,
            (entry.base - base) &+ start &+ count <= Self.bytes
        else { return nil }
        return UnsafeRawBufferPointer(start: entry.base + start, count: count)
    }

    /// Values of an entry of an index, which all have one length: the first one, and their number. Returns nil if they
    /// have a tree of their own or are malformed.
    func values(_ entry: Entry) -> (first: UnsafeRawBufferPointer, count: Int)? {
        if let only = value(entry) { return (only, 1) }
        let (start, bytes) = (Self.entryBytes &+ entry.keyCount, entry.byteCount)
        guard entry.base.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == Self.severalValues, entry.base != base,
            (entry.base - base) &+ start &+ bytes <= Self.bytes, bytes > Self.headerBytes
        else { return nil }
        // A page within the page: 8 bytes of a value (2), 12 end of the offsets (2), 14 end of the free bytes (2).
        let inner = entry.base + start
        let size = Int(inner.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        let end = Int(inner.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        let free = Int(inner.loadUnaligned(fromByteOffset: 14, as: UInt16.self)) &- end
        let count = (end &- Self.headerBytes) >> 1
        guard size > 0, count > 0, end & 1 == 0, free >= 0, free == bytes &- Self.headerBytes &- count &* size else {
            return nil
        }
        return (UnsafeRawBufferPointer(start: inner + Self.headerBytes, count: size), count)
    }

    /// Child page of an entry, or `.max` if the entry is outside of the page. The first entry may have no key.
    @inline(__always)
    func child(_ index: Int) -> UInt64 {
        let offset = Int(base.load(fromByteOffset: Self.headerBytes &+ 2 &* index, as: UInt16.self))
        guard offset >= Self.headerBytes, offset <= Self.bytes &- Self.entryBytes else { return .max }
        return base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0xffff_ffff_ffff
    }

    // MARK: Searching

    /// Index of the first entry whose key is not below `key`, or `count`.
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

    /// Index of the child that can hold a key: the last entry whose key is not above it, or the first entry.
    @inline(__always)
    func childIndex(_ key: some PageKey) -> Int {
        var (low, high) = (1, count)
        if count > Self.fewEntries {
            // Numbers are mostly spread evenly, so the guessed entry or one beside it is the right one.
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

/// A key, compared in LMDB's order.
protocol PageKey {
    func isBelow(_ entry: MappedPage.Entry) -> Bool
    func isAbove(_ entry: MappedPage.Entry) -> Bool
    func isEqual(_ entry: MappedPage.Entry) -> Bool
    /// Probable index of the key in a leaf, given the leaf's first entry, or nil if it is out of range.
    func guess(_ first: MappedPage.Entry, _ count: Int) -> Int?
    /// Probable index of the entry of a branch that leads to the key, given its second and its last entry. At least 1.
    func guess(between second: MappedPage.Entry, _ last: MappedPage.Entry, _ count: Int) -> Int
}

/// Interpolates the index of a number between `first`, at index 1, and `last`, at index `count - 1`.
@inline(__always)
private func guess(_ number: UInt64, _ first: UInt64, _ last: UInt64, _ count: Int) -> Int {
    // Differences beyond 32 bits are not worth a wider product. The result is only a guess.
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

    /// Estimates the index by the distance from the first id, because most ids follow each other without a gap.
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

/// A key of eight bytes, compared as one big-endian number.
struct NumberKey: PageKey {
    private let number: UInt64

    /// - Parameter number: the key's bytes as a number, the most significant first.
    init(_ number: UInt64) { self.number = number }

    @inline(__always)
    private func other(_ entry: MappedPage.Entry) -> UInt64 { UInt64(bigEndian: entry.id) }
    @inline(__always)
    func isBelow(_ entry: MappedPage.Entry) -> Bool { number < other(entry) }
    @inline(__always)
    func isAbove(_ entry: MappedPage.Entry) -> Bool { number > other(entry) }
    @inline(__always)
    func isEqual(_ entry: MappedPage.Entry) -> Bool { number == other(entry) && entry.keyCount == 8 }

    /// Estimates the index by the distance from the first key, as if the keys were consecutive numbers.
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
