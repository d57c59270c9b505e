// Stamps of rows that left a tree and may come back without a modification (`TreeKey.canTakeBack`). A stamp is the
// version that last changed an observed column of a row. An observer that is next called when the row is back must
// report it only if an observed column was written meanwhile, inside or outside of the tree.
//
// A stamp is kept while anything holds a root that shows the row. Upkeep thread only.

/// Departed rows of all trees of one table.
final class DepartedRows {
    private struct Departure {
        unowned let tree: SharedTree
        var stamp: UInt64
        /// The step of the tree that removed the row.
        let step: Int
    }

    private var departures: [ObjectID: [Departure]] = [:]

    func leave(_ id: ObjectID, _ tree: SharedTree, stamp: UInt64, step: Int) {
        departures[id, default: []].append(Departure(tree: tree, stamp: stamp, step: step))
    }

    func stamp(of id: ObjectID, _ tree: SharedTree) -> UInt64? {
        if departures.isEmpty { return nil }
        return departures[id]?.first { $0.tree === tree }?.stamp
    }

    /// Forgets a row that is back, or whose stamp is not needed any more.
    /// - Parameter step: only a departure in this step; nil for any.
    func forget(_ id: ObjectID, _ tree: SharedTree, step: Int? = nil) {
        guard !departures.isEmpty, var left = departures[id] else { return }
        left.removeAll { $0.tree === tree && (step == nil || $0.step == step) }
        departures[id] = left.isEmpty ? nil : left
    }

    /// Updates the stamps of a row that was written, or forgets them if it was deleted. O(trees that the row has left).
    func note(_ row: ChangedRow, isDeleted: Bool, _ changes: NetChanges) {
        guard !departures.isEmpty, let left = departures[row.id] else { return }
        if isDeleted {
            departures[row.id] = nil
            return
        }
        for index in left.indices where left[index].tree.key.observed.includes(row.columns) {
            departures[row.id]![index].stamp = changes.version(of: row, observed: left[index].tree.key.observed)
        }
    }

    /// Sets the stamp that is kept for a row and a tree, if there is one.
    func note(_ id: ObjectID, _ tree: SharedTree, stamp: UInt64) {
        guard let index = departures[id]?.firstIndex(where: { $0.tree === tree }) else { return }
        departures[id]![index].stamp = stamp
    }
}

/// Roots of one tree that may still be held, with the rows that left in the step after each.
struct HeldRoots {
    private struct Held {
        weak var root: RankedTree.Root?
        /// Rows that left in the step that ended this root, and in those that ended later released roots.
        var left: [(step: Int, ids: [ObjectID])]
    }

    private var roots: [Held] = []
    private var compactAt = 16

    /// Adds a root that may still be held, with the rows that left after it.
    mutating func end(_ root: RankedTree.Root, step: Int, left: [ObjectID]) {
        roots.append(Held(root: root, left: left.isEmpty ? [] : [(step, left)]))
    }

    /// Calls `body` with all kept rows.
    mutating func forgetAll(_ body: (ObjectID, _ step: Int) -> Void) {
        for (step, ids) in roots.flatMap(\.left) { for id in ids { body(id, step) } }
        roots = []
    }

    /// Calls `body` with the rows that no held root shows any more. O(roots + these rows).
    mutating func forgetReleased(_ body: (ObjectID, _ step: Int) -> Void) {
        let dead = roots.prefix { $0.root == nil }
        for (step, ids) in dead.flatMap(\.left) { for id in ids { body(id, step) } }
        roots.removeFirst(dead.count)
        guard roots.count > compactAt else { return }
        // Rows that left after a released root are still shown by an older held root.
        var kept: [Held] = []
        for held in roots {
            if held.root == nil, !kept.isEmpty { kept[kept.count - 1].left += held.left } else { kept.append(held) }
        }
        roots = kept
        compactAt = 2 * kept.count + 16
    }
}
