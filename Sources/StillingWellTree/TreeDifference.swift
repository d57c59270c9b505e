// The difference of two trees. Two cursors walk both, skip subtrees that are the same object in both, and merge the
// rest.

/// The rows in which two trees differ, each list ascending.
package final class TreeDifference: Sendable {
    /// A row that is in only one of the trees under this key.
    struct Row: Sendable {
        let rank: Int
        let key: BareKey
        let stamp: UInt64
    }

    /// A row that is in both trees under the same key, with different stamps (`RankedEntry.stamp`).
    struct Restamped: Sendable {
        let oldRank: Int
        let newRank: Int
        let key: BareKey
    }

    // Both trees are retained, because the rows' keys point to tails that the trees own.
    package let old: RankedTree
    package let new: RankedTree

    /// Rows of `old` only, with ranks in `old`.
    let deleted: [Row]
    /// Rows of `new` only, with ranks in `new`.
    let inserted: [Row]
    let restamped: [Restamped]
    /// For each of `deleted` the index of the same object in `inserted`, or nil.
    let partners: [Int?]

    /// Window between whose bounds the trees were compared. Differences below `lower` are not listed. Some from `upper`
    /// on may be, because the walk ends at the end of a leaf.
    let limits: TreeWindow

    /// Compares the rows between the bounds of `limits`, or all; a row limit is ignored.
    ///
    /// The cost is that of the nodes within the limits that the trees do not share. At worst O(n).
    package convenience init(from old: RankedTree, to new: RankedTree, in limits: TreeWindow = .all) {
        var walk = DifferenceWalk()
        if !old.isIdentical(to: new) { walk.compare(old, new, in: limits) }
        self.init(
            from: old, to: new, in: limits, deleted: walk.deleted, inserted: walk.inserted, restamped: walk.restamped)
    }

    /// Makes a difference from known lists. The keys must be those of the trees' own entries.
    init(
        from old: RankedTree, to new: RankedTree, in limits: TreeWindow = .all, deleted: [Row], inserted: [Row],
        restamped: [Restamped]
    ) {
        (self.old, self.new, self.limits) = (old, new, limits)
        (self.deleted, self.inserted, self.restamped) = (deleted, inserted, restamped)
        partners = ObjectPairing.partners(of: deleted, in: inserted)
    }

    /// Whether this is the difference between these two trees.
    package func isBetween(_ old: RankedTree, _ new: RankedTree) -> Bool {
        self.old.isIdentical(to: old) && self.new.isIdentical(to: new)
    }
}

/// The walk of two cursors that lists the differing rows.
private struct DifferenceWalk {
    var deleted: [TreeDifference.Row] = []
    var inserted: [TreeDifference.Row] = []
    var restamped: [TreeDifference.Restamped] = []
    private var end: BareKey?

    mutating func compare(_ old: RankedTree, _ new: RankedTree, in limits: TreeWindow) {
        withExtendedLifetime((old, new, limits)) {
            end = limits.upper.map { BareKey($0) }
            NodeCursor.withCursors(old.root.node, new.root.node) { left, right in
                if let lower = limits.lower {
                    left.seek(to: BareKey(lower))
                    right.seek(to: BareKey(lower))
                }
                walk(&left, &right)
            }
        }
    }

    private mutating func walk(_ left: inout NodeCursor, _ right: inout NodeCursor) {
        while !left.isAtEnd && !right.isAtEnd {
            if left.node == right.node && left.isAtStart && right.isAtStart {
                if end == nil, NodeCursor.skipSame(&left, &right) { continue }
                left.skip()
                right.skip()
                left.stop(at: end)
                right.stop(at: end)
            } else if left.node.height > right.node.height {
                left.descend()
            } else if left.node.height < right.node.height {
                right.descend()
            } else if left.node.isLeaf {
                merge(&left, &right)
                left.stop(at: end)
                right.stop(at: end)
            } else {
                left.descend()
                right.descend()
            }
        }
        while !left.isAtEnd {
            left.descendToLeaf()
            while left.index < left.node.used { delete(&left) }
            left.leave()
            left.stop(at: end)
        }
        while !right.isAtEnd {
            right.descendToLeaf()
            while right.index < right.node.used { insert(&right) }
            right.leave()
            right.stop(at: end)
        }
    }

    /// Merges two leaves until one of them ends.
    private mutating func merge(_ left: inout NodeCursor, _ right: inout NodeCursor) {
        let leftUsed = left.node.used
        let rightUsed = right.node.used
        while true {
            // Fast path: most entries of two leaves are equal.
            let same = left.node.sameEntries(from: left.index, as: right.node, from: right.index)
            left.step(same)
            right.step(same)
            guard left.index < leftUsed && right.index < rightUsed else { break }
            let leftKey = left.node.key(at: left.index)
            let rightKey = right.node.key(at: right.index)
            if leftKey == rightKey {
                if left.node.stamp(at: left.index) != right.node.stamp(at: right.index) {
                    restamped.append(TreeDifference.Restamped(oldRank: left.rank, newRank: right.rank, key: rightKey))
                }
                left.step()
                right.step()
            } else if leftKey < rightKey {
                delete(&left)
            } else {
                insert(&right)
            }
        }
        if left.index == leftUsed { left.leave() }
        if right.index == rightUsed { right.leave() }
    }

    private mutating func delete(_ cursor: inout NodeCursor) {
        deleted.append(cursor.row)
        cursor.step()
    }

    private mutating func insert(_ cursor: inout NodeCursor) {
        inserted.append(cursor.row)
        cursor.step()
    }
}

/// A position in a tree: at the start of a node of any height, or inside a leaf. Borrows the nodes.
private struct NodeCursor {
    private struct Frame {
        let node: RankedNode
        var child: Int
    }

    /// Inner nodes above `node`, with the child taken in each.
    private let path: UnsafeMutablePointer<Frame>
    private var depth = 0
    private(set) var node: RankedNode
    /// Index within a leaf; 0 in an inner node.
    private(set) var index = 0
    /// Number of entries before this position.
    private(set) var rank = 0
    private(set) var isAtEnd: Bool

    private init(_ root: RankedNode, path: UnsafeMutablePointer<Frame>) {
        node = root
        self.path = path
        isAtEnd = root.total == 0
    }

    static func withCursors(
        _ left: RankedNode, _ right: RankedNode, _ body: (inout NodeCursor, inout NodeCursor) -> Void
    ) {
        let size = left.height + right.height + 2
        withUnsafeTemporaryAllocation(of: Frame.self, capacity: size) { frames in
            let memory = frames.baseAddress.unsafelyUnwrapped
            var leftCursor = NodeCursor(left, path: memory)
            var rightCursor = NodeCursor(right, path: memory + left.height + 1)
            body(&leftCursor, &rightCursor)
        }
    }

    var isAtStart: Bool { index == 0 }

    var row: TreeDifference.Row {
        TreeDifference.Row(rank: rank, key: node.key(at: index), stamp: node.stamp(at: index))
    }

    mutating func step(_ count: Int = 1) {
        index += count
        rank += count
    }

    /// Moves both cursors past consecutive children that their parents share. Both stop at the first difference, or
    /// after the last child of the parent that ends first. Returns false, without moving, if one of them has no parent.
    static func skipSame(_ left: inout NodeCursor, _ right: inout NodeCursor) -> Bool {
        guard left.depth > 0, right.depth > 0 else { return false }
        let (first, second) = (left.path[left.depth - 1], right.path[right.depth - 1])
        let most = min(first.node.used - first.child, second.node.used - second.child)
        var (count, entries) = (0, 0)
        while count < most, first.node.children[first.child + count] == second.node.children[second.child + count] {
            entries += first.node.counts[first.child + count]
            count += 1
        }
        left.pass(count, entries)
        right.pass(count, entries)
        return true
    }

    /// Moves past `children` children of the parent, which hold `entries` entries.
    private mutating func pass(_ children: Int, _ entries: Int) {
        rank += entries
        path[depth - 1].child += children - 1
        leave()
    }

    mutating func descend() {
        (path + depth).initialize(to: Frame(node: node, child: 0))
        depth += 1
        node = node.children[0]
    }

    /// Moves from the root to the first entry that is not below `key`.
    mutating func seek(to key: BareKey) {
        while !node.isLeaf {
            let child = node.childIndex(for: key)
            rank += node.countBefore(child)
            (path + depth).initialize(to: Frame(node: node, child: child))
            depth += 1
            node = node.children[child]
        }
        index = node.lowerBound(key)
        rank += index
        if index == node.used { leave() }
    }

    /// Ends the walk if the next entry is not below `end`. Costs a descent, once per node left.
    mutating func stop(at end: BareKey?) {
        guard let end, !isAtEnd else { return }
        var first = node
        while !first.isLeaf { first = first.children[0] }
        if index < first.used, !(first.key(at: index) < end) { isAtEnd = true }
    }

    mutating func descendToLeaf() {
        while !node.isLeaf { descend() }
    }

    /// Moves past the whole node from its start. The parent knows its count, so that a shared node is not read.
    mutating func skip() {
        if depth > 0 {
            let frame = path[depth - 1]
            rank += frame.node.counts[frame.child]
        } else {
            rank += node.total
        }
        leave()
    }

    /// Moves to the start of the next node.
    mutating func leave() {
        index = 0
        while depth > 0 {
            path[depth - 1].child += 1
            let frame = path[depth - 1]
            if frame.child < frame.node.used {
                node = frame.node.children[frame.child]
                return
            }
            depth -= 1
        }
        isAtEnd = true
    }
}
