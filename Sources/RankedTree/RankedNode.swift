// One node of a ranked tree: a block of raw memory with its own reference count, so that walking down a tree touches no
// count at all. This file is the layout, its lifetime and searching; RankedNode+Editing.swift changes nodes.
//
// Who may write: a node carries the id of the edit that made it and is written by that edit alone, before its tree is
// published. Afterwards every field but the reference count is constant, and any thread may read it. The count is an
// atomic; the last release happens after every read (acquire and release), so that freeing is ordered too.
import Glibc
import Synchronization

/// A node of a ranked tree: a leaf holds entries, an inner node children. The memory is counted by hand: whoever stores
/// a node owns one reference.
struct RankedNode: Hashable {
    /// The fixed part; after it come the arrays, each `capacity` long: prefixes, ids, words and, in inner nodes, children; and
    /// last, where there are any, the measures (RankedNode+Measures.swift).
    private struct Header: ~Copyable {
        let references = Atomic<Int>(1)
        /// The edit that made this node and alone may write to it.
        let edit: UInt64
        /// Entries in this node and below.
        var total: Int
        var used: UInt16
        let capacity: UInt16
        /// 0 for a leaf.
        let height: UInt8
        let measures: MeasureKinds
        /// One per slot, each owned; nil as long as no slot has a tail, so that such nodes are copied as plain memory.
        var tails: UnsafeMutablePointer<Unmanaged<SortKeyTail>?>?
    }

    private let header: UnsafeMutablePointer<Header>

    /// An empty node, owned by the caller.
    init(edit: UInt64, height: Int, capacity: Int, measures: MeasureKinds) {
        var bytes = MemoryLayout<Header>.size + (height == 0 ? 3 : 4) * capacity * 8
        if measures.count > 0 { bytes += Self.measureBytes(measures, height: height) * capacity }
        // The allocator itself, which aligns to 16: Swift's way there asks for an alignment each time, which costs half as much again.
        guard let memory = malloc(bytes) else { fatalError("no memory for a node of \(bytes) bytes") }
        header = memory.bindMemory(to: Header.self, capacity: 1)
        header.initialize(
            to: Header(
                edit: edit, total: 0, used: 0, capacity: UInt16(truncatingIfNeeded: capacity),
                height: UInt8(truncatingIfNeeded: height), measures: measures,
                tails: nil))
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
    /// Behind the last array.
    var measureMemory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(array(isLeaf ? 3 : 4, of: UInt64.self)) }

    @inline(__always)
    private func array<Element>(_ number: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        (UnsafeMutableRawPointer(header) + MemoryLayout<Header>.size + number * capacity * 8)
            .assumingMemoryBound(to: type)
    }

    /// First bytes of the keys: the entries' in a leaf, the children's smallest in an inner node.
    var prefixes: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(0, of: UInt64.self) } }
    var ids: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(1, of: UInt64.self) } }
    /// Stamps in a leaf.
    var stamps: UnsafeMutablePointer<UInt64> { @inline(__always) get { array(2, of: UInt64.self) } }
    /// Entries below each child in an inner node; the same memory as `stamps`.
    var counts: UnsafeMutablePointer<Int> { @inline(__always) get { array(2, of: Int.self) } }
    /// Owned, one reference each; inner nodes only.
    var children: UnsafeMutablePointer<RankedNode> { @inline(__always) get { array(3, of: RankedNode.self) } }

    @inline(__always)
    func key(at index: Int) -> BareKey { BareKey(prefix: prefixes[index], id: ids[index], tail: tails?[index]) }

    /// How many entries are the same in two leaves, key and stamp, from a place in each on. Of keys with tails those that share
    /// them; who asks compares the next entry.
    func sameEntries(from start: Int, as other: RankedNode, from otherStart: Int) -> Int {
        let most = min(used - start, other.used - otherStart)
        let (prefixes, otherPrefixes) = (prefixes + start, other.prefixes + otherStart)
        let (ids, otherIDs) = (ids + start, other.ids + otherStart)
        let (stamps, otherStamps) = (stamps + start, other.stamps + otherStart)
        var count = 0
        while count + 4 <= most {
            var difference: UInt64 = 0
            for place in count..<count + 4 {
                difference |= prefixes[place] ^ otherPrefixes[place]
                difference |= ids[place] ^ otherIDs[place]
                difference |= stamps[place] ^ otherStamps[place]
            }
            if difference != 0 { break }
            count += 4
        }
        while count < most, prefixes[count] == otherPrefixes[count], ids[count] == otherIDs[count],
            stamps[count] == otherStamps[count]
        {
            count += 1
        }
        if tails == nil, other.tails == nil { return count }
        guard let tails, let otherTails = other.tails else { return 0 }
        return (0..<count).first { tails[start + $0]?.toOpaque() != otherTails[otherStart + $0]?.toOpaque() } ?? count
    }

    func entry(at index: Int) -> RankedEntry { RankedEntry(key: key(at: index).owned, stamp: stamps[index]) }

    @inline(__always)
    func retain() { header.pointee.references.wrappingAdd(1, ordering: .relaxed) }

    /// Reads the count and ignores it: loads of several nodes overlap in the memory system, additions to them do not.
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
        /// For checks of who owns what.
        var referenceCount: Int { header.pointee.references.load(ordering: .relaxed) }
    #endif

    /// The first slot whose key is not below `key`; `used` where there is none.
    @inline(__always)
    func lowerBound(_ key: BareKey) -> Int {
        let prefixes = prefixes
        let used = used
        var low = 0
        var length = used
        // On the numbers alone first: no branch depends on more than one load.
        while length > 0 {
            let half = length >> 1
            let isBelow = prefixes[low + half] < key.prefix
            low = isBelow ? low + half + 1 : low
            length = isBelow ? length - half - 1 : half
        }
        if low == used || prefixes[low] != key.prefix { return low }
        return lowerBoundAmongTies(key, from: low)
    }

    private func lowerBoundAmongTies(_ key: BareKey, from start: Int) -> Int {
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

    /// The child an entry with `key` is in, or would have to be in.
    @inline(__always)
    func childIndex(for key: BareKey) -> Int {
        let index = lowerBound(key)
        if index < used && self.key(at: index) == key { return index }
        return max(index - 1, 0)
    }

    /// Entries below the children before `index`.
    @inline(__always)
    func countBefore(_ index: Int) -> Int {
        let counts = counts
        var sum = 0
        for other in 0..<index { sum &+= counts[other] }
        return sum
    }
}
