// Entries of a node of a list order while they are changed. Pure.
import Glibc

struct RankEntries {
    /// Capacity of a node. Two nodes of this many bytes, with their keys, share an LMDB page.
    private static let (mostEntries, mostBytes) = (64, 2_000)
    /// Number of entries below which a node is merged with a neighbour, if both together are not above the fill level.
    private static let fewEntries = 16
    /// Fill level of nodes that are built or merged: below the capacity, so that the next insertions do not split them.
    private static let (fullEntries, fullBytes) = (48, 1_500)
    /// Number of entries up to which a node is not split, however long its positions are.
    private static let leastEntries = 4

    let level: Int
    /// Number of the next new node. Only used in a root.
    var next: UInt64 = 0
    private var ids: [UInt64] = []
    /// Number of elements below each child. Only used in inner nodes.
    private var counts: [UInt64] = []
    private var ends: [UInt32] = []
    private var positions: [UInt8] = []

    init(level: Int) { self.level = level }

    init(_ node: RankNode) {
        level = node.level
        next = node.next
        ids = node.copyWords(0..<node.count)
        if level > 0 { counts = node.copyWords(node.count..<2 * node.count) }
        ends = node.copyEnds()
        positions = node.copyPositions()
    }

    var count: Int { ids.count }
    var total: UInt64 { level == 0 ? UInt64(ids.count) : counts.reduce(0, &+) }
    var byteCount: Int { RankNode.headerBytes + ids.count * (level == 0 ? 12 : 20) + positions.count }
    var isTooLarge: Bool {
        count > Self.mostEntries || byteCount > Self.mostBytes && count > Self.leastEntries
    }
    /// Whether the node should be merged with a neighbour.
    var isSmall: Bool { count < Self.fewEntries }
    /// Whether entries should go to another node if possible.
    var isFull: Bool { count >= Self.fullEntries || byteCount >= Self.fullBytes }

    func id(_ index: Int) -> UInt64 { ids[index] }

    func position(_ index: Int) -> [UInt8] { Array(positions[range(index)]) }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

    // MARK: Changing

    /// - Parameter below: number of elements below the entry. Not kept in a leaf.
    mutating func insert(_ id: UInt64, _ below: UInt64, _ position: UnsafeRawBufferPointer, at index: Int) {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        ids.insert(id, at: index)
        if level > 0 { counts.insert(below, at: index) }
        positions.insert(contentsOf: position, at: start)
        ends.insert(UInt32(start), at: index)
        for later in index..<ends.count { ends[later] += UInt32(position.count) }
    }

    mutating func append(_ id: UInt64, _ below: UInt64, _ position: UnsafeRawBufferPointer) {
        insert(id, below, position, at: count)
    }

    mutating func remove(at index: Int) {
        let gone = range(index)
        ids.remove(at: index)
        if level > 0 { counts.remove(at: index) }
        positions.removeSubrange(gone)
        ends.remove(at: index)
        for later in index..<ends.count { ends[later] -= UInt32(gone.count) }
    }

    mutating func setBelow(_ below: UInt64, at index: Int) { counts[index] = below }

    /// Moves the end of the node to a new node.
    /// - Parameter place: index of the entry that made the node too large. Adding at an end leaves full nodes behind.
    mutating func split(after place: Int) -> RankEntries {
        let first = place == count - 1 ? count - 1 : place == 0 ? 1 : count / 2
        let start = Int(ends[first - 1])
        var other = RankEntries(level: level)
        other.ids = Array(ids[first...])
        other.positions = Array(positions[start...])
        other.ends = ends[first...].map { $0 - UInt32(start) }
        ids.removeSubrange(first...)
        positions.removeSubrange(start...)
        ends.removeSubrange(first...)
        if level > 0 {
            other.counts = Array(counts[first...])
            counts.removeSubrange(first...)
        }
        return other
    }

    /// Whether the entries of the next node fit into this one.
    func hasRoom(for other: RankEntries) -> Bool {
        count + other.count <= Self.fullEntries && byteCount + other.byteCount <= Self.fullBytes
    }

    /// Appends the entries of the next node.
    /// - Parameter position: lower bound of the positions in that node.
    mutating func append(contentsOf other: RankEntries, from position: [UInt8]) {
        var other = other
        // The first child's position was unused in its node; it is needed here.
        if level > 0 {
            let (id, below) = (other.ids[0], other.counts[0])
            other.remove(at: 0)
            position.withUnsafeBytes { other.insert(id, below, $0, at: 0) }
        }
        let start = UInt32(positions.count)
        ids += other.ids
        counts += other.counts
        positions += other.positions
        ends += other.ends.map { $0 + start }
    }

    /// Writes the node with this key to a buffer of `byteCount` bytes.
    func write(to base: UnsafeMutableRawPointer, _ key: RankKey, _ table: UInt32) {
        base.initializeMemory(as: UInt8.self, repeating: 0, count: RankNode.headerBytes)
        base.storeBytes(of: UInt8(level), toByteOffset: 4, as: UInt8.self)
        base.storeBytes(of: UInt16(count), toByteOffset: 6, as: UInt16.self)
        base.storeBytes(of: key.number == 0 ? next : 0, toByteOffset: 8, as: UInt64.self)
        var end = base + RankNode.headerBytes
        func put(_ bytes: UnsafeRawBufferPointer) {
            if let from = bytes.baseAddress { end.copyMemory(from: from, byteCount: bytes.count) }
            end += bytes.count
        }
        ids.withUnsafeBytes(put)
        counts.withUnsafeBytes(put)
        ends.withUnsafeBytes(put)
        positions.withUnsafeBytes(put)
        let sum = Checksum.node(UnsafeRawBufferPointer(start: base, count: byteCount), key, table)
        base.storeBytes(of: sum, as: UInt32.self)
    }
}
