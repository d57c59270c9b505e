// Node of the counted tree that stores a list's order in `ranks.T`. Pure. Layout:
//
//     key     object that has the list (8), number of the node (8), both big endian; the root is number 0
//     0       checksum of all other bytes and of the key (4)
//     4       level (1), 0 for a leaf; zero (1); entries (2)
//     8       in the root: number of the next new node (8), else zero
//     16      in a leaf: elements (8 each); in an inner node: numbers of the children (8 each)
//     then    in an inner node: number of elements below each child (8 each)
//     then    end of each position (4 each), relative to the begin of the first one
//     then    positions: of the elements, or lower bounds of the children; that of the first child is unused
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc

struct RankNode {
    static let headerBytes = 16
    /// Bound of the levels, which no tree reaches.
    static let maxLevel = 32

    let base: UnsafeRawPointer
    let byteCount: Int
    let level: Int
    let count: Int

    /// Returns nil if the bytes are no node, or a node without entries.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count >= Self.headerBytes else { return nil }
        self.base = base
        byteCount = bytes.count
        level = Int(base.load(fromByteOffset: 4, as: UInt8.self))
        count = Int(base.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        guard level < Self.maxLevel, count > 0, positions <= byteCount, end(count - 1) == byteCount - positions else {
            return nil
        }
    }

    /// Returns nil if the bytes are not the node that was stored under a key.
    init?(_ bytes: UnsafeRawBufferPointer, _ key: RankKey, _ table: UInt32) {
        guard bytes.count >= Self.headerBytes, bytes.loadUnaligned(as: UInt32.self) == Checksum.node(bytes, key, table)
        else { return nil }
        self.init(bytes)
    }

    /// Checksum stored in the node.
    var sum: UInt32 { base.loadUnaligned(as: UInt32.self) }

    var next: UInt64 { base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }

    @inline(__always)
    private func word(_ index: Int) -> UInt64 {
        base.loadUnaligned(fromByteOffset: Self.headerBytes &+ index &* 8, as: UInt64.self)
    }

    /// Element, or number of the child.
    @inline(__always)
    func id(_ index: Int) -> UInt64 { word(index) }

    /// Number of elements below an entry; 1 in a leaf.
    @inline(__always)
    func below(_ index: Int) -> UInt64 { level == 0 ? 1 : word(count &+ index) }

    /// Number of elements below the node.
    var total: UInt64 {
        if level == 0 { return UInt64(count) }
        var total: UInt64 = 0
        for index in 0..<count { total &+= below(index) }
        return total
    }

    private var ends: Int { Self.headerBytes &+ count &* (level == 0 ? 8 : 16) }
    private var positions: Int { ends &+ count &* 4 }

    @inline(__always)
    private func end(_ index: Int) -> Int {
        Int(base.loadUnaligned(fromByteOffset: ends &+ index &* 4, as: UInt32.self))
    }

    /// Position of an entry, empty if it lies outside of the node.
    @inline(__always)
    func position(_ index: Int) -> UnsafeRawBufferPointer {
        let (first, last) = (index == 0 ? 0 : end(index &- 1), end(index))
        guard first <= last, positions &+ last <= byteCount else {
            return UnsafeRawBufferPointer(start: base, count: 0)
        }
        return UnsafeRawBufferPointer(start: base + (positions &+ first), count: last &- first)
    }

    /// Index of the child whose range contains a position.
    func childIndex(_ position: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (1, count)
        while low < high {
            let middle = (low &+ high) >> 1
            if position.precedes(self.position(middle)) { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }

    /// Index of the first entry whose position is not less than `position`.
    func lowerBound(_ position: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low &+ high) >> 1
            if self.position(middle).precedes(position) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Copies ids and counts.
    func copyWords(_ range: Range<Int>) -> [UInt64] {
        // The initializer below writes to the storage shared by all empty arrays, which ThreadSanitizer reports.
        if range.isEmpty { return [] }
        return [UInt64](unsafeUninitializedCapacity: range.count) { buffer, filled in
            filled = range.count
            guard let to = buffer.baseAddress else { return }
            memcpy(to, base + Self.headerBytes + 8 * range.lowerBound, 8 * range.count)
        }
    }

    func copyEnds() -> [UInt32] {
        [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = count
            guard let to = buffer.baseAddress else { return }
            memcpy(to, base + ends, 4 * count)
        }
    }

    func copyPositions() -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: base + positions, count: byteCount - positions))
    }
}

/// Key of a node: its list and its number.
struct RankKey {
    static let bytes = 16

    let owner: UInt64
    let number: UInt64

    init(_ owner: UInt64, _ number: UInt64) { (self.owner, self.number) = (owner, number) }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.bytes else { return nil }
        owner = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        number = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Runs `body` with the key as an LMDB value.
    @inline(__always)
    func with<Result>(_ body: (inout MDB_val) -> Result) -> Result {
        var bytes = (owner.bigEndian, number.bigEndian)
        return withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: Self.bytes, mv_data: bytes.baseAddress)
            return body(&key)
        }
    }
}

extension Checksum {
    /// Checksum of a node: its table, its key and its bytes, except the four that hold the checksum.
    static func node(_ bytes: UnsafeRawBufferPointer, _ key: RankKey, _ table: UInt32) -> UInt32 {
        guard let base = bytes.baseAddress, bytes.count >= RankNode.headerBytes else { return 0 }
        let sum = cp_crc32c_entry(UInt64(table), key.owner, base + 4, UInt(bytes.count - 4))
        return cp_crc32c_word(sum, key.number)
    }
}
