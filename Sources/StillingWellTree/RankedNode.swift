// One node of a ranked tree: raw memory with its own reference count, so that walking down a tree touches no reference
// count.
//
// A node carries the id of the edit that made it and is written by that edit only, before its tree is published.
// Afterwards every field except the reference count is constant, and any thread may read it. Release is acquiring and
// releasing, so that the memory is freed after every read.
import Glibc
import Synchronization

/// A node of a ranked tree. A leaf holds entries, an inner node children. References are counted manually.
struct RankedNode: Hashable {
    /// The fixed part. The arrays follow it, each `capacity` long: prefixes, ids and stamps in a leaf; prefixes, ids,
    /// counts and children in an inner node. Measures come last, if any (RankedNode+Measures.swift). In narrow leaves
    /// (LeafFormat.swift) the elements of the arrays have 4 bytes, otherwise 8.
    private struct Header: ~Copyable {
        let references = Atomic<Int>(1)
        /// Id of the edit that made this node. Only that edit may write to it.
        let edit: UInt64
        /// Number of entries in this node and below.
        var total: Int
        var used: UInt16
        let capacity: UInt16
        /// 0 for a leaf.
        let height: UInt8
        let measures: MeasureKinds
        let format: LeafFormat
        /// One per slot, each owned; nil until a slot gets a tail.
        var tails: UnsafeMutablePointer<Unmanaged<SortKeyTail>?>?
    }

    private let header: UnsafeMutablePointer<Header>

    /// Makes an empty node, owned by the caller.
    /// - Parameter format: format of a leaf; inner nodes are wide.
    init(edit: UInt64, height: Int, capacity: Int, measures: MeasureKinds, format: LeafFormat) {
        assert(height == 0 || !format.isNarrow)
        var bytes = MemoryLayout<Header>.size + Self.measureOffset(height: height, capacity, format)
        if measures.count > 0 { bytes += Self.measureBytes(measures, height: height) * capacity }
        // malloc aligns to 16. Swift's allocation function requests an alignment each time, which costs half as much
        // again.
        guard let memory = malloc(bytes) else { fatalError("no memory for a node of \(bytes) bytes") }
        header = memory.bindMemory(to: Header.self, capacity: 1)
        header.initialize(
            to: Header(
                edit: edit, total: 0, used: 0, capacity: UInt16(truncatingIfNeeded: capacity),
                height: UInt8(truncatingIfNeeded: height), measures: measures,
                format: format, tails: nil))
    }

    var edit: UInt64 { @inline(__always) get { header.pointee.edit } }
    var capacity: Int { @inline(__always) get { Int(header.pointee.capacity) } }
    var height: Int { @inline(__always) get { Int(header.pointee.height) } }
    var isLeaf: Bool { @inline(__always) get { header.pointee.height == 0 } }

    var total: Int {
        @inline(__always) get { header.pointee.total }
        nonmutating set { header.pointee.total = newValue }
    }
    var used: Int {
        @inline(__always) get { Int(header.pointee.used) }
        nonmutating set { header.pointee.used = UInt16(truncatingIfNeeded: newValue) }
    }
    var tails: UnsafeMutablePointer<Unmanaged<SortKeyTail>?>? {
        @inline(__always) get { header.pointee.tails }
        nonmutating set { header.pointee.tails = newValue }
    }

    var measures: MeasureKinds { @inline(__always) get { header.pointee.measures } }
    var format: LeafFormat { @inline(__always) get { header.pointee.format } }
    var isNarrow: Bool { @inline(__always) get { header.pointee.format.isNarrow } }
    /// Start of the first array.
    var memory: UnsafeMutableRawPointer {
        @inline(__always) get { UnsafeMutableRawPointer(header) + MemoryLayout<Header>.size }
    }
    /// Start of the measures, behind the last array.
    var measureMemory: UnsafeMutableRawPointer {
        memory + Self.measureOffset(height: height, capacity, format)
    }
    /// Returns the offset of the measures, a multiple of eight for any capacity.
    private static func measureOffset(height: Int, _ capacity: Int, _ format: LeafFormat) -> Int {
        ((height == 0 ? 3 : 4) &* format.bytes(capacity) &+ 7) & ~7
    }

    @inline(__always)
    private func array<Element>(_ number: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        (memory + number * capacity * 8).assumingMemoryBound(to: type)
    }

    /// First eight bytes of the keys: of the entries in a wide leaf, of each child's smallest key in an inner node.
    var prefixes: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(0, of: UInt64.self) } }
    var ids: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(1, of: UInt64.self) } }
    /// Stamps of the entries in a wide leaf.
    var stamps: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(2, of: UInt64.self) } }
    /// Number of entries below each child in an inner node. Same memory as `stamps`.
    var counts: UnsafeMutablePointer<Int> { @inline(__always) get { array(2, of: Int.self) } }
    /// Children of an inner node, one owned reference each.
    var children: UnsafeMutablePointer<RankedNode> { @inline(__always) get { array(3, of: RankedNode.self) } }

    @inline(__always)
    func key(at index: Int) -> BareKey {
        isNarrow
            ? BareKey(prefix: narrowWord(.prefix, index), id: narrowWord(.id, index), tail: tails?[index])
            : BareKey(prefix: prefixes[index], id: ids[index], tail: tails?[index])
    }

    @inline(__always)
    func id(at index: Int) -> UInt64 { isNarrow ? narrowWord(.id, index) : ids[index] }

    /// Returns the stamp of an entry; leaves only.
    @inline(__always)
    func stamp(at index: Int) -> UInt64 { isNarrow ? narrowWord(.stamp, index) : stamps[index] }

    /// Sets an entry except for its tail and measures; leaves only. The leaf's format must hold it.
    @inline(__always)
    func setEntry(_ prefix: UInt64, _ id: UInt64, _ stamp: UInt64, at index: Int) {
        guard !isNarrow else { return setNarrowEntry(prefix, id, stamp, at: index) }
        prefixes[index] = prefix
        ids[index] = id
        stamps[index] = stamp
    }

    func entry(at index: Int) -> RankedEntry { RankedEntry(key: key(at: index).owned, stamp: stamp(at: index)) }

    @inline(__always)
    func retain() { header.pointee.references.wrappingAdd(1, ordering: .relaxed) }

    /// Reads the count and ignores it. Reads of several nodes overlap in the memory system, atomic additions do not.
    @inline(__always)
    func prefetchForRetain() { _ = header.pointee.references.load(ordering: .relaxed) }

    @inline(__always)
    func release() {
        let (_, left) = header.pointee.references.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        if left == 0 { destroy() }
    }

    @inline(never)
    private func destroy() {
        if let tails {
            for index in 0..<used { tails[index]?.release() }
            tails.deallocate()
        }
        if !isLeaf {
            for index in 0..<used { children[index].release() }
        }
        header.deinitialize(count: 1)
        free(header)
    }

    #if DEBUG
        var referenceCount: Int { header.pointee.references.load(ordering: .relaxed) }
    #endif

    /// Returns the first slot whose key is not below `key`, or `used`.
    @inline(__always)
    func lowerBound(_ key: BareKey) -> Int {
        guard !isNarrow else { return narrowLowerBound(key) }
        let low = Self.lowerBound(key.prefix, in: prefixes, used)
        if low == used || prefixes[low] != key.prefix { return low }
        return lowerBoundAmongTies(key, from: low)
    }

    @inline(__always)
    static func lowerBound<Word: FixedWidthInteger>(_ word: Word, in words: UnsafePointer<Word>, _ used: Int) -> Int {
        var low = 0
        var length = used
        // Both updates are selections, for which a compiler needs no branch that the processor would mispredict.
        while length > 0 {
            let half = length >> 1
            let isBelow = words[low + half] < word
            low = isBelow ? low + half + 1 : low
            length = isBelow ? length - half - 1 : half
        }
        return low
    }

    func lowerBoundAmongTies(_ key: BareKey, from start: Int) -> Int {
        var low = start
        var length = used - start
        while length > 0 {
            let half = length >> 1
            if self.key(at: low + half) < key {
                low += half + 1
                length -= half + 1
            } else {
                length = half
            }
        }
        return low
    }

    /// Returns the index of the child that contains, or would contain, an entry with `key`.
    @inline(__always)
    func childIndex(for key: BareKey) -> Int {
        let index = lowerBound(key)
        if index < used && self.key(at: index) == key { return index }
        return max(index - 1, 0)
    }

    /// Returns the number of entries below the children before `index`.
    @inline(__always)
    func countBefore(_ index: Int) -> Int {
        let counts = counts
        var sum = 0
        for other in 0..<index { sum &+= counts[other] }
        return sum
    }
}
