// What upkeep keeps per table: the shared trees, and the index that routes a changed row to those it may touch.
// Upkeep thread only.

final class TableUpkeep {
    let table: Table
    private var index: QueryIndex
    private var trees: [SharedTree?] = []
    private var handles: [TreeKey: Int] = [:]
    private var freeHandles: [Int] = []
    private var touched: [SharedTree] = []

    init(_ table: Table) {
        self.table = table
        index = QueryIndex(table.schema)
    }

    var isEmpty: Bool { handles.isEmpty }

    /// The tree of this key; `isNew` says that it was made and waits for its first evaluation.
    func tree(_ key: TreeKey) -> (tree: SharedTree, isNew: Bool) {
        if let handle = handles[key], let tree = trees[handle] { return (tree, false) }
        let tree = SharedTree(key, table)
        let handle = freeHandles.popLast() ?? trees.count
        if handle == trees.count { trees.append(tree) } else { trees[handle] = tree }
        handles[key] = handle
        return (tree, true)
    }

    /// Routes changes to the tree from now on.
    func admit(_ tree: SharedTree) {
        if let handle = handles[tree.key] { index.insert(tree.key.residual, handle: handle) }
    }

    /// Whether the tree is still wanted: it may have lost its last observer while it was evaluated.
    func isWanted(_ tree: SharedTree) -> Bool { handles[tree.key].flatMap { trees[$0] } === tree }

    func drop(_ tree: SharedTree) {
        guard let handle = handles.removeValue(forKey: tree.key) else { return }
        trees[handle] = nil
        freeHandles.append(handle)
        if tree.tree != nil { index.remove(tree.key.residual, handle: handle) }
    }

    /// Brings the trees from one snapshot to the next, given the rows that may differ. Calls `body` once with each
    /// live query whose window was touched.
    func apply(
        _ rows: ArraySlice<ChangedRow>, from old: Snapshot, to new: Snapshot, _ body: (SharedTree, LiveQuery) -> Void
    ) {
        for row in rows {
            let before = old.row(table, row.id)
            let after = new.row(table, row.id)
            if before == nil, after == nil { continue }
            index.forEachCandidate(before, after) { handle in
                guard let tree = trees[handle] else { return }
                let wasTouched = tree.hasNotes
                if tree.note(row.id, old: before, new: after, stamp: new.version), !wasTouched { touched.append(tree) }
            }
        }
        for tree in touched { tree.applyNoted { body(tree, $0) } }
        touched.removeAll(keepingCapacity: true)
    }
}
