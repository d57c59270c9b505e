// What lies between two trees: two cursors walk both, skip every subtree that is the same object in both, and merge the
// rest. The cost is that of the nodes in which the trees differ, not of the trees. Clipping it to a window and turning it into a
// change set is in TreeDifference+ChangeSet.swift.

/// All rows in which two trees differ, each list in ascending order.
struct TreeDifference: Sendable {
    /// A row that stands in one of the trees only, under this key.
    struct Row: Sendable {
        let rank: Int
        let key: BareKey
    }

    /// A row that stands in both trees under the same key, with different stamps.
    struct Restamped: Sendable {
        let oldRank: Int
        let newRank: Int
        let key: BareKey
    }

    // Both trees are kept: the rows' keys point to tails they own.
    let old: RankedTree
    let new: RankedTree

    /// Ranks in `old`.
    private(set) var deleted: [Row] = []
    /// Ranks in `new`.
    private(set) var inserted: [Row] = []
    private(set) var restamped: [Restamped] = []
    /// For each of `deleted`: where in `inserted` the same object is; nil where it is gone.
    private(set) var partners: [Int?] = []

    /// O(nodes not shared + k), k rows that differ; at worst O(n), for trees that share nothing.
    init(from old: RankedTree, to new: RankedTree) {
        self.old = old
        self.new = new
        guard !old.isIdentical(to: new) else { return }
        withExtendedLifetime((old, new)) {
            NodeCursor.withCursors(old.root.node, new.root.node) { walk(&$0, &$1) }
        }
        partners = ObjectPairing.partners(of: deleted, in: inserted)
    }

    var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && restamped.isEmpty }

    private mutating func walk(_ left: inout NodeCursor, _ right: inout NodeCursor) {
        while !left.isAtEnd && !right.isAtEnd {
            if left.node == right.node && left.isAtStart && right.isAtStart {
                left.skip()
                right.skip()
            } else if left.node.height > right.node.height {
                left.descend()
            } else if left.node.height < right.node.height {
                right.descend()
            } else if left.node.isLeaf {
                merge(&left, &right)
            } else {
                left.descend()
                right.descend()
            }
        }
        while !left.isAtEnd {
            left.descendToLeaf()
            while left.index < left.node.used { delete(&left) }
            left.leave()
        }
        while !right.isAtEnd {
            right.descendToLeaf()
            while right.index < right.node.used { insert(&right) }
            right.leave()
        }
    }

    /// Merges two leaves until one of them ends.
    private mutating func merge(_ left: inout NodeCursor, _ right: inout NodeCursor) {
        let leftUsed = left.node.used
        let rightUsed = right.node.used
        while left.index < leftUsed && right.index < rightUsed {
            let leftKey = left.node.key(at: left.index)
            let rightKey = right.node.key(at: right.index)
            if leftKey == rightKey {
                if left.node.stamps[left.index] != right.node.stamps[right.index] {
                    restamped.append(Restamped(oldRank: left.rank, newRank: right.rank, key: rightKey))
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
        deleted.append(Row(rank: cursor.rank, key: cursor.node.key(at: cursor.index)))
        cursor.step()
    }

    private mutating func insert(_ cursor: inout NodeCursor) {
        inserted.append(Row(rank: cursor.rank, key: cursor.node.key(at: cursor.index)))
        cursor.step()
    }
}

/// A place in a tree: at the start of a node of any height, or inside a leaf. Borrows the nodes.
private struct NodeCursor {
    private struct Frame {
        let node: RankedNode
        var child: Int
    }

    /// The inner nodes above `node`, with the child each descended to.
    private let path: UnsafeMutablePointer<Frame>
    private var depth = 0
    private(set) var node: RankedNode
    /// Within a leaf; 0 in an inner node.
    private(set) var index = 0
    /// Entries before this place.
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

    /// To the next entry of the leaf.
    mutating func step() {
        index += 1
        rank += 1
    }

    /// To the start of the first child.
    mutating func descend() {
        (path + depth).initialize(to: Frame(node: node, child: 0))
        depth += 1
        node = node.children[0]
    }

    mutating func descendToLeaf() {
        while !node.isLeaf { descend() }
    }

    /// Past the whole node, from its start. The parent knows its count, so that a shared node is not even read.
    mutating func skip() {
        if depth > 0 {
            let frame = path[depth - 1]
            rank += frame.node.counts[frame.child]
        } else {
            rank += node.total
        }
        leave()
    }

    /// To the start of what comes after the node.
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
