// A sorted collection that is cheap to change, to index and to keep old states of: a counted B+tree whose nodes are
// shared between versions. A tree is an immutable value; RankedEdit makes the next one. Reading needs no lock.

/// Rows in the order of their keys, with ranks. Any number of threads may read one tree; a copy costs one retain.
@usableFromInline
package struct RankedTree: Sendable {
    /// Slots per node. The default is what the store uses; tests use small nodes, so that small trees are deep.
    @usableFromInline
    package struct Shape: Sendable, Equatable {
        var leafCapacity: Int
        var innerCapacity: Int
        var measures: Measures

        @usableFromInline
        init(leafCapacity: Int = 64, innerCapacity: Int = 32, measures: Measures = Measures()) {
            self.leafCapacity = leafCapacity
            self.innerCapacity = innerCapacity
            self.measures = measures
        }

        /// Fuller nodes save memory, but the next insertion must not split every one of them.
        func fill(height: Int) -> Int { capacity(height: height) * 7 / 8 }
        /// Below it a node is merged with its neighbour. A quarter rather than a half, so that a row that comes and goes
        /// does not split and merge each time.
        func minimum(height: Int) -> Int { max(capacity(height: height) / 4, height == 0 ? 1 : 2) }
        func capacity(height: Int) -> Int { height == 0 ? leafCapacity : innerCapacity }
        /// An empty node, owned by the caller.
        func node(edit: UInt64, height: Int = 0, format: LeafFormat = .wide) -> RankedNode {
            RankedNode(
                edit: edit, height: height, capacity: capacity(height: height), measures: measures.kinds, format: format
            )
        }
    }

    /// Owns one reference to the root node.
    ///
    /// Unchecked because of the raw node: a published node is constant but for its atomic reference count (RankedNode.swift),
    /// and a root is made only when its edit is over.
    @usableFromInline package final class Root: @unchecked Sendable {
        let node: RankedNode
        let shape: Shape
        /// The tree's entries, where another module reads it without a call.
        @usableFromInline let count: Int
        /// Trees that travel with this one, so that whoever is handed a root can go on from there: a connection puts its own
        /// writes on what it was delivered. What they are for is TreeForm's business.
        let groups: RankedTree?
        let sections: RankedTree?

        /// Takes over the caller's reference.
        init(_ node: RankedNode, shape: Shape, groups: RankedTree? = nil, sections: RankedTree? = nil) {
            self.node = node
            self.shape = shape
            count = node.total
            self.groups = groups
            self.sections = sections
        }

        deinit { node.release() }
    }

    @usableFromInline package let root: Root

    init(_ root: Root) { self.root = root }

    /// An empty tree.
    package init(shape: Shape = Shape()) {
        precondition(
            shape.leafCapacity >= 4 && shape.innerCapacity >= 4 && max(shape.leafCapacity, shape.innerCapacity) < 4096,
            "a node of a ranked tree has 4 to 4095 slots")
        root = Root(shape.node(edit: 0), shape: shape)
    }

    @inlinable package var count: Int { root.count }
    package var isEmpty: Bool { count == 0 }

    /// The same root object, or one of the same nodes, hence the same rows; says nothing where false. O(1).
    @inlinable
    package func isIdentical(to other: RankedTree) -> Bool { root === other.root || sharesNodes(with: other) }

    @usableFromInline
    func sharesNodes(with other: RankedTree) -> Bool { root.node == other.root.node }

    /// How many entries stand before `key`, whether or not the tree has it. O(log n).
    package func lowerBound(of key: RankedKey) -> Int { withExtendedLifetime(key) { place(of: BareKey(key)).rank } }

    /// How many entries have a sort key below `bound`. O(log n).
    @usableFromInline
    package func lowerBound(of bound: SortKeyBound) -> Int {
        withExtendedLifetime(bound) { place(of: BareKey(bound)).rank }
    }

    /// The rank of the entry with `key`; nil where there is none. O(log n).
    package func rank(of key: RankedKey) -> Int? {
        withExtendedLifetime(key) {
            let place = place(of: BareKey(key))
            return place.isPresent ? place.rank : nil
        }
    }

    /// The stamp of the entry with `key`; nil where there is none. O(log n).
    package func stamp(of key: RankedKey) -> UInt64? {
        withExtendedLifetime(key) {
            let place = place(of: BareKey(key))
            return place.isPresent ? place.leaf.stamp(at: place.index) : nil
        }
    }

    /// Where the entry with `key` stands, or would have to. Valid as long as the tree is.
    @inline(__always)
    func place(of key: BareKey) -> (leaf: RankedNode, index: Int, rank: Int, isPresent: Bool) {
        withExtendedLifetime(root) {
            var node = root.node
            var rank = 0
            while !node.isLeaf {
                let index = node.childIndex(for: key)
                rank &+= node.countBefore(index)
                node = node.children[index]
            }
            let index = node.lowerBound(key)
            return (node, index, rank &+ index, index < node.used && node.key(at: index) == key)
        }
    }

    /// The entry at `rank`, which is below `count`. O(log n).
    @usableFromInline
    package func entry(at rank: Int) -> RankedEntry {
        withExtendedLifetime(root) {
            let (leaf, index) = leaf(at: rank)
            return leaf.entry(at: index)
        }
    }

    /// The id of the entry at `rank`, which is below `count`. O(log n).
    package func id(at rank: Int) -> UInt64 {
        withExtendedLifetime(root) {
            let (leaf, index) = leaf(at: rank)
            return leaf.id(at: index)
        }
    }

    /// The leaf that has `rank`, and the place in it. Valid as long as the tree is.
    func leaf(at rank: Int) -> (leaf: RankedNode, index: Int) {
        var node = root.node
        precondition(rank >= 0 && rank < node.total, "rank \(rank) is outside of a tree of \(node.total) entries")
        var left = rank
        while !node.isLeaf {
            let counts = node.counts
            var index = 0
            while left >= counts[index] {
                left &-= counts[index]
                index &+= 1
            }
            node = node.children[index]
        }
        return (node, left)
    }
}

extension RankedTree {
    /// All rows by group, where only the first of each group is shown.
    package var groups: RankedTree? { root.groups }
    /// The tree that has every row, under its base key (TreeForm.swift).
    package var base: RankedTree { groups ?? self }
    /// One entry per section, its id being 0.
    package var sections: RankedTree? { root.sections }

    /// The same rows with other trees beside them. An edit of a tree loses those, so this comes after it.
    package func with(groups: RankedTree?, sections: RankedTree?) -> RankedTree {
        root.node.retain()
        return RankedTree(Root(root.node, shape: root.shape, groups: groups, sections: sections))
    }
}
