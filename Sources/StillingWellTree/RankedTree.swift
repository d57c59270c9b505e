// A sorted collection with cheap changes, indexing and old versions: a counted B+tree whose nodes are shared between
// versions. A tree is an immutable value. Reading needs no lock.

/// Rows ordered by key, with ranks. Any number of threads may read one tree; a copy costs one retain.
@usableFromInline
package struct RankedTree: Sendable {
    /// The number of slots per node, and the columns stored with the entries. Tests use small nodes, so that small
    /// trees are deep.
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

        /// Returns the slots to fill when a tree is built. A full node would be split by the next insertion.
        func fill(height: Int) -> Int { capacity(height: height) * 7 / 8 }
        /// Returns the size below which a node is merged or evened out with a neighbour. A quarter instead of a half of
        /// the capacity, so that a row that comes and goes does not split and merge each time.
        func minimum(height: Int) -> Int { max(capacity(height: height) / 4, height == 0 ? 1 : 2) }
        func capacity(height: Int) -> Int { height == 0 ? leafCapacity : innerCapacity }
        /// Returns an empty node, owned by the caller.
        func node(edit: UInt64, height: Int = 0, format: LeafFormat = .wide) -> RankedNode {
            RankedNode(
                edit: edit, height: height, capacity: capacity(height: height), measures: measures.kinds, format: format
            )
        }
    }

    /// Owns one reference to the root node.
    ///
    /// Unchecked because of the raw node: a published node is constant but for its atomic reference count, and a root
    /// is made when its edit is over.
    @usableFromInline package final class Root: @unchecked Sendable {
        let node: RankedNode
        let shape: Shape
        /// Number of entries, readable by other modules without a call.
        @usableFromInline let count: Int
        /// Trees that accompany this one. `TreeForm` defines their use.
        let groups: RankedTree?
        let sections: RankedTree?

        /// Takes over the caller's reference to `node`.
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

    package init(shape: Shape = Shape()) {
        precondition(
            shape.leafCapacity >= 4 && shape.innerCapacity >= 4 && max(shape.leafCapacity, shape.innerCapacity) < 4096,
            "a node of a ranked tree has 4 to 4095 slots")
        root = Root(shape.node(edit: 0), shape: shape)
    }

    @inlinable package var count: Int { root.count }
    package var isEmpty: Bool { count == 0 }

    /// Returns true if both have the same root node, and so the same rows. If false, the rows may still be equal. O(1).
    @inlinable
    package func isIdentical(to other: RankedTree) -> Bool { root === other.root || sharesNodes(with: other) }

    @usableFromInline
    func sharesNodes(with other: RankedTree) -> Bool { root.node == other.root.node }

    /// Returns the number of entries before `key`, which need not be in the tree. O(log n).
    package func lowerBound(of key: RankedKey) -> Int { withExtendedLifetime(key) { place(of: BareKey(key)).rank } }

    /// Returns the number of entries with a sort key below `bound`. O(log n).
    @usableFromInline
    package func lowerBound(of bound: SortKeyBound) -> Int {
        withExtendedLifetime(bound) { place(of: BareKey(bound)).rank }
    }

    /// Returns the rank of the entry with `key`, or nil. O(log n).
    package func rank(of key: RankedKey) -> Int? {
        withExtendedLifetime(key) {
            let place = place(of: BareKey(key))
            return place.isPresent ? place.rank : nil
        }
    }

    /// Returns the stamp (`RankedEntry.stamp`) of the entry with `key`, or nil. O(log n).
    package func stamp(of key: RankedKey) -> UInt64? {
        withExtendedLifetime(key) {
            let place = place(of: BareKey(key))
            return place.isPresent ? place.leaf.stamp(at: place.index) : nil
        }
    }

    /// Returns the place of the entry with `key`, or where it would be inserted. Valid as long as the tree is.
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

    /// Returns the entry at `rank`, which is below `count`. O(log n).
    @usableFromInline
    package func entry(at rank: Int) -> RankedEntry {
        withExtendedLifetime(root) {
            let (leaf, index) = leaf(at: rank)
            return leaf.entry(at: index)
        }
    }

    /// Returns the id of the entry at `rank`, which is below `count`. O(log n).
    package func id(at rank: Int) -> UInt64 {
        withExtendedLifetime(root) {
            let (leaf, index) = leaf(at: rank)
            return leaf.id(at: index)
        }
    }

    /// Returns the leaf that contains `rank`, and the index in it. Valid as long as the tree is.
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
    /// All rows by group, for a query that shows only the first row of each group.
    package var groups: RankedTree? { root.groups }
    /// Tree of all rows, under their base keys (TreeForm.swift).
    package var base: RankedTree { groups ?? self }
    /// Tree of sections: one entry each, with id 0.
    package var sections: RankedTree? { root.sections }

    /// Returns the same rows with other accompanying trees. An edit drops these, so this comes after it.
    package func with(groups: RankedTree?, sections: RankedTree?) -> RankedTree {
        root.node.retain()
        return RankedTree(Root(root.node, shape: root.shape, groups: groups, sections: sections))
    }
}
