// Rows that left a tree whose observers name columns, and may come back: their stamps. An observer that was told of such a
// row, and is called only when it is back, hears of it only if a named column was written, inside or outside of the tree.
//
// A stamp is kept as long as somebody may hold a root that shows the row. Upkeep thread only.

/// Of all trees of one table.
final class DepartedRows {
    private struct Departure {
        unowned let tree: SharedTree
        var stamp: UInt64
        /// The step of the tree that took the row out.
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

    /// The row is back; or what it had is of no use any more.
    /// - Parameter step: nil for whichever departure it was.
    func forget(_ id: ObjectID, _ tree: SharedTree, step: Int? = nil) {
        guard !departures.isEmpty, var left = departures[id] else { return }
        left.removeAll { $0.tree === tree && (step == nil || $0.step == step) }
        departures[id] = left.isEmpty ? nil : left
    }

    /// A row was written, or deleted. O(trees it has left).
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

    /// A row was changed by what it leads to.
    func note(_ id: ObjectID, _ tree: SharedTree, stamp: UInt64) {
        guard let index = departures[id]?.firstIndex(where: { $0.tree === tree }) else { return }
        departures[id]![index].stamp = stamp
    }
}

/// The roots of one tree that somebody may still hold, with the rows that left in the step after each.
struct HeldRoots {
    private struct Held {
        weak var root: RankedTree.Root?
        /// Steps of the tree that ended this root, or roots after it that nobody holds any more, and what left in them.
        var left: [(step: Int, ids: [ObjectID])]
    }

    private var roots: [Held] = []
    private var compactAt = 16

    /// A step has made something else of `root`.
    mutating func end(_ root: RankedTree.Root, step: Int, left: [ObjectID]) {
        roots.append(Held(root: root, left: left.isEmpty ? [] : [(step, left)]))
    }

    /// Calls `body` with all rows that are kept.
    mutating func forgetAll(_ body: (ObjectID, _ step: Int) -> Void) {
        for (step, ids) in roots.flatMap(\.left) { for id in ids { body(id, step) } }
        roots = []
    }

    /// Calls `body` with the rows that no root shows any more which somebody holds. Amortised O(1).
    mutating func forgetReleased(_ body: (ObjectID, _ step: Int) -> Void) {
        let dead = roots.prefix { $0.root == nil }
        for (step, ids) in dead.flatMap(\.left) { for id in ids { body(id, step) } }
        roots.removeFirst(dead.count)
        guard roots.count > compactAt else { return }
        // What left after a root that is gone is still shown by an older one.
        var kept: [Held] = []
        for held in roots {
            if held.root == nil, !kept.isEmpty { kept[kept.count - 1].left += held.left } else { kept.append(held) }
        }
        roots = kept
        compactAt = 2 * kept.count + 16
    }
}
