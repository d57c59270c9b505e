// A node of the counted tree that a list's order is kept in, as it lies in `ranks.T`. Pure.
//
//     key     object that has the list (8), number of the node (8), both highest byte first; the root is number 0
//     0       checksum (4), of everything else and of the key
//     4       level (1), 0 for a leaf; zero (1); entries (2)
//     8       of the root the number of the next new node (8), of others zero
//     16      of a leaf its elements (8 each), of an inner node its children's numbers (8 each)
//     then    of an inner node how many elements are below each child (8 each)
//     then    where each position ends (4 each), from the begin of the first one
//     then    positions: of elements their own, of a child what nothing in it is before; the first child's means nothing
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc

struct RankNode {
    static let headerBytes = 16
    /// What no tree is as high as.
    static let maxLevel = 32

    let base: UnsafeRawPointer
    let byteCount: Int
    let level: Int
    let count: Int

    /// nil where bytes are none, or have no entry.
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

    /// The same where the node is the one that was stored under a key.
    init?(_ bytes: UnsafeRawBufferPointer, _ key: RankKey, _ table: UInt32) {
        guard bytes.count >= Self.headerBytes, bytes.loadUnaligned(as: UInt32.self) == Checksum.node(bytes, key, table)
        else { return nil }
        self.init(bytes)
    }

    /// What it carries as its checksum.
    var sum: UInt32 { base.loadUnaligned(as: UInt32.self) }

    var next: UInt64 { base.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }

    @inline(__always)
    private func word(_ index: Int) -> UInt64 {
        base.loadUnaligned(fromByteOffset: Self.headerBytes &+ index &* 8, as: UInt64.self)
    }

    /// The element, or the number of the child.
    @inline(__always)
    func id(_ index: Int) -> UInt64 { word(index) }

    /// How many elements an entry stands for.
    @inline(__always)
    func below(_ index: Int) -> UInt64 { level == 0 ? 1 : word(count &+ index) }

    /// How many elements there are below the node.
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

    /// Empty where it does not lie in the node.
    @inline(__always)
    func position(_ index: Int) -> UnsafeRawBufferPointer {
        let (first, last) = (index == 0 ? 0 : end(index &- 1), end(index))
        guard first <= last, positions &+ last <= byteCount else {
            return UnsafeRawBufferPointer(start: base, count: 0)
        }
        return UnsafeRawBufferPointer(start: base + (positions &+ first), count: last &- first)
    }

    /// Which child a position is in, or would be.
    func childIndex(_ position: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (1, count)
        while low < high {
            let middle = (low &+ high) >> 1
            if position.precedes(self.position(middle)) { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }

    /// The first entry that is not before a position.
    func lowerBound(_ position: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low &+ high) >> 1
            if self.position(middle).precedes(position) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// The raw parts, to be copied.
    func copyWords(_ range: Range<Int>) -> [UInt64] {
        // The initializer below writes to what all empty arrays share, which ThreadSanitizer reports.
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

/// Which node of which list.
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

    /// Runs `body` with the key as the engine takes it.
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
    /// Of a node of a list's order: its table and key, and its bytes, but for the four that hold this.
    static func node(_ bytes: UnsafeRawBufferPointer, _ key: RankKey, _ table: UInt32) -> UInt32 {
        guard let base = bytes.baseAddress, bytes.count >= RankNode.headerBytes else { return 0 }
        let sum = cp_crc32c_entry(UInt64(table), key.owner, base + 4, UInt(bytes.count - 4))
        return cp_crc32c_word(sum, key.number)
    }
}
