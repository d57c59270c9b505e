// Byte keys of many rows, gathered in one buffer and sorted without being moved. With an object per key, moving and
// comparing took 70 % of the instructions of a first evaluation. Used by one thread.
import Glibc
import StillingWellTree

/// Keys being gathered.
struct GatheredKeys {
    /// Number of keys below which they are sorted by comparison.
    private static let fewest = 256
    /// Maximum number of differing bytes for a radix sort. Beyond it, comparing reads fewer bytes.
    private static let mostPasses = 24

    private var bytes = SortKeyBytes()
    /// End of each key.
    private var ends: [Int] = []
    private var ids: [UInt64] = []
    /// Numbers of the keys, counted as they were added, in sorted order.
    private(set) var order: [UInt32] = []
    /// Length of all keys so far, or −1 if it differs.
    private var length = 0
    private var areAscendingByID = true

    var count: Int { ids.count }

    /// Appends the key of a row.
    @inline(__always)
    mutating func add(_ id: ObjectID, _ append: (inout SortKeyBytes) -> Void) {
        let start = bytes.count
        append(&bytes)
        let added = bytes.count - start
        if let last = ids.last {
            if added != length { length = -1 }
            if last >= id.rawValue { areAscendingByID = false }
        } else {
            length = added
        }
        ends.append(bytes.count)
        ids.append(id.rawValue)
    }

    /// Sorts the keys; equal keys by id.
    mutating func sort() {
        let added = ids.indices.map { UInt32($0) }
        order = withKeys(added) { keys in
            let positions = count >= Self.fewest && areAscendingByID && length > 0 ? keys.differing(length) : nil
            guard let positions, positions.count <= Self.mostPasses else {
                return added.sorted { keys.precedes(Int($0), Int($1)) }
            }
            var (sorted, next) = (added, added)
            for position in positions.reversed() {
                NumberSort.pass(&sorted, &next) { Int(keys.bytes[Int($0) * length + position]) }
            }
            return sorted
        }
    }

    /// Runs `body` with keys in an order.
    func withKeys<Result>(_ order: [UInt32], _ body: (SortedKeys) -> Result) -> Result {
        bytes.withBytes { bytes in
            ends.withUnsafeBufferPointer { ends in
                ids.withUnsafeBufferPointer { ids in
                    order.withUnsafeBufferPointer { order in
                        body(SortedKeys(bytes: bytes, ends: ends, ids: ids, order: order))
                    }
                }
            }
        }
    }
}

/// Keys in an order, valid as long as the `GatheredKeys`.
struct SortedKeys {
    fileprivate let bytes: UnsafeRawBufferPointer
    fileprivate let ends: UnsafeBufferPointer<Int>
    fileprivate let ids: UnsafeBufferPointer<UInt64>
    fileprivate let order: UnsafeBufferPointer<UInt32>

    var count: Int { order.count }

    @inline(__always)
    private func key(_ number: Int) -> UnsafeRawBufferPointer {
        let start = number == 0 ? 0 : ends[number - 1]
        return UnsafeRawBufferPointer(rebasing: bytes[start..<ends[number]])
    }

    @inline(__always)
    subscript(place: Int) -> UnsafeRawBufferPointer { key(Int(order[place])) }

    @inline(__always)
    func id(_ place: Int) -> UInt64 { ids[Int(order[place])] }

    func entries(stamp: UInt64) -> some Sequence<RankedEntry> {
        (0..<count).lazy.map { RankedEntry(key: RankedKey(bytes: self[$0], id: id($0)), stamp: stamp) }
    }

    /// Returns whether the key at one index precedes that at another.
    @inline(__always)
    fileprivate func precedes(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (key(left), key(right))
        if a.count >= 8, b.count >= 8 {
            let (a, b) = (a.loadUnaligned(as: UInt64.self).bigEndian, b.loadUnaligned(as: UInt64.self).bigEndian)
            if a != b { return a < b }
        }
        var order = 0
        if let left = a.baseAddress, let right = b.baseAddress {
            order = Int(memcmp(left, right, min(a.count, b.count)))
        }
        if order == 0 { order = a.count - b.count }
        return order != 0 ? order < 0 : ids[left] < ids[right]
    }

    /// Positions at which keys of one length differ, ascending. O(bytes).
    fileprivate func differing(_ length: Int) -> [Int] {
        if length < 8 {
            return (0..<length).filter { position in
                stride(from: position, to: bytes.count, by: length).contains { bytes[$0] != bytes[position] }
            }
        }
        // Eight bytes at once. The last eight may overlap those before.
        var differs = [Bool](repeating: false, count: length)
        for start in Array(stride(from: 0, to: length - 8, by: 8)) + [length - 8] {
            let first = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            var difference: UInt64 = 0
            for place in stride(from: start, to: bytes.count, by: length) {
                difference |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) ^ first
            }
            for byte in 0..<8 where difference.littleEndian >> UInt64(8 * byte) & 0xff != 0 {
                differs[start + byte] = true
            }
        }
        return differs.indices.filter { differs[$0] }
    }
}
