// Changes single rows of a ranked tree. An edit copies the nodes of the old tree that it changes, changes the copies in
// place, and returns the next tree when it is finished. Used by one thread; noncopyable; invisible to others before
// `finish`.
//
// A node is written only by the edit, or the building of a tree, whose id it carries. Testing for a reference count of
// one instead would depend on who holds an old tree, and would read a count that other threads write.
import Synchronization

/// Id of the last edit, or building of a tree, in the process. The node of an empty tree has id 0.
private let lastEdit = Atomic<UInt64>(0)

/// A change of a tree in progress. Inserting and removing are O(log n).
package struct RankedEdit: ~Copyable {
    private let id: UInt64
    let shape: RankedTree.Shape
    /// Root of the tree so far. The edit owns one reference.
    private(set) var root: RankedNode
    /// Right half of the node that an insertion has just split, for its caller.
    private var splitOff: RankedNode?
    private var values: UnsafePointer<UInt64>?

    init(_ tree: RankedTree) {
        id = RankedEdit.nextID()
        shape = tree.root.shape
        root = tree.root.node
        root.retain()
    }

    static func nextID() -> UInt64 { lastEdit.wrappingAdd(1, ordering: .relaxed).newValue }

    deinit { root.release() }

    /// Ends the edit and returns the tree, which is immutable from then on.
    consuming func finish() -> RankedTree {
        let tree = RankedTree(RankedTree.Root(root, shape: shape))
        discard self
        #if DEBUG
            if tree.count <= Self.fewEntries, let violation = tree.checkInvariants() {
                fatalError("ranked tree: \(violation)")
            }
        #endif
        return tree
    }

    /// Adds an entry. If the key exists, sets only its stamp (`RankedEntry.stamp`) and measures.
    /// - Parameter values: words of the entry's measures; nil sets zeros.
    /// - Returns: whether the key is new.
    @discardableResult
    package mutating func insert(_ entry: RankedEntry, values: UnsafePointer<UInt64>? = nil) -> Bool {
        let before = root.total
        self.values = values
        withExtendedLifetime(entry) {
            insertAtRoot(BareKey(entry.key), stamp: entry.stamp)
            checkPath(to: entry.key)
        }
        return root.total > before
    }

    /// Removes the entry with `key`.
    /// - Returns: whether there was one. If not, no node was copied.
    @discardableResult
    package mutating func remove(_ key: RankedKey) -> Bool {
        withExtendedLifetime(key) {
            let wasPresent = removeAtRoot(BareKey(key))
            checkPath(to: key)
            return wasPresent
        }
    }

    /// Trees of at most so many entries are checked as a whole when their edit ends, in debug builds.
    private static var fewEntries: Int { 64 }

    /// Ends the process, in debug builds, if a node on the way to a key breaks a rule.
    @inline(__always)
    private func checkPath(to key: RankedKey) {
        #if DEBUG
            if let violation = checkPath(to: BareKey(key)) { fatalError("ranked tree: \(violation)") }
        #endif
    }

    /// Returns `node` if this edit made it, otherwise a copy that this edit may write to.
    private func owned(_ node: RankedNode) -> RankedNode { node.edit == id ? node : node.copy(edit: id) }

    /// Same as `owned(_:)`, and also copies a node of another format than `format`.
    private func owned(_ node: RankedNode, _ format: LeafFormat) -> RankedNode {
        node.edit == id && node.format == format ? node : node.copy(edit: id, format)
    }

    private mutating func replaceRoot(by node: RankedNode) {
        guard node != root else { return }
        root.release()
        root = node
    }

    private mutating func insertAtRoot(_ key: BareKey, stamp: UInt64) {
        replaceRoot(by: insert(key, stamp, below: root))
        guard let right = splitOff else { return }
        splitOff = nil
        let grown = shape.node(edit: id, height: root.height + 1)
        grown.insert(child: root, at: 0)
        grown.insert(child: right, at: 1)
        root = grown
    }

    /// Inserts below `node`.
    /// - Returns: the node that replaces it, owned by the caller if it is another node. `splitOff` is its new right
    ///   neighbour, if any.
    private mutating func insert(_ key: BareKey, _ stamp: UInt64, below node: RankedNode) -> RankedNode {
        if node.isLeaf { return insert(key, stamp, intoLeaf: node) }
        let index = node.childIndex(for: key)
        let child = insert(key, stamp, below: node.children[index])
        let mine = owned(node)
        mine.replaceChild(at: index, by: child)
        let split = splitOff
        splitOff = nil
        mine.total += child.total + (split?.total ?? 0) - mine.counts[index]
        mine.refreshSlot(at: index)
        if let split {
            mine.total -= split.total
            insert(split, into: mine, at: index + 1)
        }
        return mine
    }

    private mutating func insert(_ key: BareKey, _ stamp: UInt64, intoLeaf leaf: RankedNode) -> RankedNode {
        let index = leaf.lowerBound(key)
        let isPresent = index < leaf.used && leaf.key(at: index) == key
        let mine = owned(leaf, leaf.format(holding: key.prefix, key.id, stamp))
        var (half, place) = (mine, index)
        if isPresent {
            mine.setEntry(key.prefix, key.id, stamp, at: index)
        } else {
            if mine.used == mine.capacity { (half, place) = split(mine, insertingAt: index) }
            half.insert(key, stamp: stamp, at: place)
        }
        if mine.measures.count > 0 { half.setMeasures(values, at: place) }
        return mine
    }

    private mutating func insert(_ child: RankedNode, into node: RankedNode, at index: Int) {
        guard node.used == node.capacity else { return node.insert(child: child, at: index) }
        let (half, place) = split(node, insertingAt: index)
        half.insert(child: child, at: place)
    }

    /// Splits a full node. Returns the half that an insertion at `index` belongs to, and the place in it. An insertion
    /// at the end splits off a quarter only: otherwise rows that arrive in ascending order would leave half-full nodes.
    private mutating func split(_ node: RankedNode, insertingAt index: Int) -> (half: RankedNode, place: Int) {
        let middle = index == node.used ? node.used - node.used / 4 : node.used / 2
        let right = node.split(at: middle)
        splitOff = right
        return index <= middle ? (node, index) : (right, index - middle)
    }

    private mutating func removeAtRoot(_ key: BareKey) -> Bool {
        guard let replaced = remove(key, below: root) else { return false }
        replaceRoot(by: replaced)
        while !root.isLeaf && root.used == 1 {
            let child = root.children[0]
            child.retain()
            replaceRoot(by: child)
        }
        return true
    }

    /// Removes below `node`.
    /// - Returns: the node that replaces it, as for insertion; nil if there is no such key.
    private func remove(_ key: BareKey, below node: RankedNode) -> RankedNode? {
        if node.isLeaf {
            let index = node.lowerBound(key)
            guard index < node.used && node.key(at: index) == key else { return nil }
            let mine = owned(node)
            mine.remove(index..<index + 1)
            return mine
        }
        let index = node.childIndex(for: key)
        guard let child = remove(key, below: node.children[index]) else { return nil }
        let mine = owned(node)
        mine.replaceChild(at: index, by: child)
        mine.total -= 1
        if child.used < shape.minimum(height: child.height) {
            mine.counts[index] -= 1
            rebalance(mine, at: index)
        } else {
            mine.refreshSlot(at: index)
        }
        return mine
    }

    /// Joins the child at `index` with a neighbour, or evens both out if one node cannot hold them.
    private func rebalance(_ node: RankedNode, at index: Int) {
        let leftIndex = index > 0 ? index - 1 : 0
        let format = node.children[leftIndex].format.joined(with: node.children[leftIndex + 1].format)
        for pair in leftIndex...leftIndex + 1 { node.replaceChild(at: pair, by: owned(node.children[pair], format)) }
        let left = node.children[leftIndex]
        let right = node.children[leftIndex + 1]
        let sum = left.used + right.used
        if sum <= left.capacity {
            left.append(from: right, 0..<right.used)
            node.total += node.counts[leftIndex + 1]
            node.remove(leftIndex + 1..<leftIndex + 2)
        } else if left.used < sum / 2 {
            let moved = sum / 2 - left.used
            left.append(from: right, 0..<moved)
            right.remove(0..<moved)
            node.refreshSlot(at: leftIndex + 1)
        } else {
            let rest = right.copy(edit: id)
            right.remove(0..<right.used)
            right.append(from: left, sum / 2..<left.used)
            right.append(from: rest, 0..<rest.used)
            rest.release()
            left.remove(sum / 2..<left.used)
            node.refreshSlot(at: leftIndex + 1)
        }
        node.refreshSlot(at: leftIndex)
    }
}

extension RankedTree {
    /// Changes the tree by one edit. If `body` throws, the tree is unchanged.
    @discardableResult
    package mutating func edit<Result>(_ body: (inout RankedEdit) throws -> Result) rethrows -> Result {
        var edit = RankedEdit(self)
        let result = try body(&edit)
        self = edit.finish()
        return result
    }
}
