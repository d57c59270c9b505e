// Upkeep's state of one table: the shared trees, the index that routes a changed row to trees it may touch, and the
// observed objects. Upkeep thread only.
import StillingWellSync

final class TableUpkeep {
    let table: Table
    private let index: DeliveryBound<QueryIndex>
    private let trees = DeliveryBound<[SharedTree?]>([])
    private var handles: [TreeKey: Int] = [:]
    private var freeHandles: [Int] = []
    /// Trees that wait for their first evaluation.
    private(set) var unevaluated: [SharedTree] = []
    private let touched = DeliveryBound<[SharedTree]>([])
    private let departed = DepartedRows()
    /// Observers of single objects, by the objects' ids.
    private let watches = DeliveryBound<[UInt64: [ObjectWatch]]>([:])
    /// Observers of single objects that began at a version which upkeep may not have reached yet.
    private let ahead = DeliveryBound<[ObjectWatch]>([])

    init(_ table: Table) {
        self.table = table
        index = DeliveryBound(QueryIndex(table.schema))
    }

    var isEmpty: Bool { handles.isEmpty && watches.value.isEmpty }

    func existingTree(_ key: TreeKey) -> SharedTree? { handles[key].flatMap { trees.value[$0] } }

    /// Tree of this key. `isNew` means that it was made and waits for its first evaluation.
    func tree(_ key: TreeKey) -> (tree: SharedTree, isNew: Bool) {
        if let handle = handles[key], let tree = trees.value[handle] { return (tree, false) }
        let tree = SharedTree(key, table, departed)
        let handle = freeHandles.popLast() ?? trees.value.count
        if handle == trees.value.count { trees.value.append(tree) } else { trees.value[handle] = tree }
        handles[key] = handle
        unevaluated.append(tree)
        return (tree, true)
    }

    /// Routes changes to the tree from now on.
    func admit(_ tree: SharedTree) {
        unevaluated.removeAll { $0 === tree }
        if let handle = handles[tree.key] { index.value.insert(tree.key.residual, handle: handle) }
    }

    /// Trees that have been evaluated.
    var evaluatedTrees: [SharedTree] { trees.value.compactMap { $0?.tree.value == nil ? nil : $0 } }

    /// Whether the tree has not been dropped. It may have lost its last observer while it was evaluated.
    func isWanted(_ tree: SharedTree) -> Bool { handles[tree.key].flatMap { trees.value[$0] } === tree }

    func drop(_ tree: SharedTree) {
        guard let handle = handles.removeValue(forKey: tree.key) else { return }
        trees.value[handle] = nil
        freeHandles.append(handle)
        unevaluated.removeAll { $0 === tree }
        tree.isDropped.store(true, ordering: .relaxed)
        tree.forgetDeparted()
        if tree.tree.value != nil { index.value.remove(tree.key.residual, handle: handle) }
    }

    /// Moves the trees from one snapshot to the next, given the rows that may differ. Calls `body` once for each live
    /// query whose window was touched.
    /// - Parameter dependants: trees with rows that change through links.
    func apply(
        _ rows: [ChangedRow], _ changes: NetChanges, dependants: [SharedTree], from old: Snapshot, to new: Snapshot,
        _ body: (SharedTree, LiveQuery) -> Void
    ) {
        for row in rows {
            let before = old.row(table, row.id)
            let after = new.row(table, row.id)
            if before == nil, after == nil { continue }
            departed.note(row, isDeleted: after == nil, changes)
            index.value.forEachCandidate(before, after) { handle in
                guard let tree = trees.value[handle] else { return }
                let wasTouched = tree.hasNotes
                let extra = tree.dependants.value.take(row.id)
                let isChanged = tree.note(
                    row.id, from: old, old: before, to: new, new: after, columns: row.columns | extra,
                    version: changes.version(of: row, tree, isDependant: extra != 0))
                if isChanged, !wasTouched { touched.value.append(tree) }
            }
        }
        for tree in dependants {
            let wasTouched = tree.hasNotes
            tree.noteDependants(from: old, to: new)
            if tree.hasNotes, !wasTouched { touched.value.append(tree) }
        }
        for tree in touched.value { tree.applyNoted { body(tree, $0) } }
        touched.value.removeAll(keepingCapacity: true)
    }

    // MARK: Single objects

    /// - Parameter version: the version of upkeep's snapshot.
    func watch(_ watch: ObjectWatch, at version: UInt64) {
        watches.value[watch.object.id.rawValue, default: []].append(watch)
        if watch.object.since > version { ahead.value.append(watch) }
    }

    func unwatch(_ object: ObjectHandle) {
        watches.value[object.id.rawValue]?.removeAll { $0.object === object }
        if watches.value[object.id.rawValue]?.isEmpty == true { watches.value[object.id.rawValue] = nil }
        ahead.value.removeAll { $0.object === object }
    }

    var allWatches: [ObjectWatch] { watches.value.values.flatMap(\.self) }

    /// Calls `body` with an update of each observed object among `rows`. O(rows), or O(1) if no object is observed.
    func forEachWatched(
        _ rows: [ChangedRow], _ changes: NetChanges, skips: [SkipRecord], from old: Snapshot, to new: Snapshot,
        _ body: (ObjectWatch, ObjectUpdate) -> Void
    ) {
        guard !watches.value.isEmpty else { return }
        guard changes.isComplete else { return compareWatched(rows, from: old, to: new, body) }
        for row in rows {
            guard let watches = watches.value[row.id.rawValue] else { continue }
            let isDeleted = new.row(table, row.id) == nil
            let whole = ObjectChangeEntry(version: row.version, columns: row.columns, isDeletion: isDeleted)
            for watch in watches {
                var entries = [whole]
                if !skips.isEmpty || watch.object.since > old.version {
                    entries = changes.log[row.history].map { ObjectChangeEntry($0, skips) }
                }
                entries.removeAll { $0.version <= watch.object.since }
                if !entries.isEmpty { body(watch, ObjectUpdate(watch.object, entries)) }
            }
        }
        forgetAhead(upTo: new.version)
    }

    /// Finds updates without a log, by comparing values. An object inserted and deleted between the snapshots is in
    /// neither, so observers that are ahead of `old` are compared with the row that they saw.
    private func compareWatched(
        _ rows: [ChangedRow], from old: Snapshot, to new: Snapshot, _ body: (ObjectWatch, ObjectUpdate) -> Void
    ) {
        func tell(_ watch: ObjectWatch, _ before: RowReader) {
            guard let entry = ObjectChangeEntry(watch.object, from: before, to: new) else { return }
            body(watch, ObjectUpdate(watch.object, [entry]))
        }
        for row in rows {
            for watch in watches.value[row.id.rawValue] ?? [] where watch.object.since <= old.version {
                if let before = old.row(table, row.id) { tell(watch, before) }
            }
        }
        for watch in ahead.value where watch.object.since > old.version && watch.object.since < new.version {
            watch.seen.withUnsafeBytes { tell(watch, RowReader($0)) }
        }
        forgetAhead(upTo: new.version)
    }

    private func forgetAhead(upTo version: UInt64) {
        if !ahead.value.isEmpty { ahead.value.removeAll { $0.object.since <= version } }
    }
}

extension ObjectChangeEntry {
    init(_ change: LoggedChange, _ skips: [SkipRecord]) {
        self.init(
            version: change.version, columns: change.entry.columns,
            isDeletion: change.entry.operation == LogEntry.Operation.delete.rawValue,
            skippedBy: skips.filter { $0.version == change.version }.flatMap(\.tokens))
    }

    /// Change of an object without a log, found by comparing rows. Returns nil if nothing changed.
    init?(_ object: ObjectHandle, from before: RowReader, to new: Snapshot) {
        guard let row = new.row(object.table, object.id) else {
            self.init(version: new.version, columns: .max, isDeletion: true)
            return
        }
        let columns = row.columns(differingFrom: before, object.table.schema)
        if columns == 0 { return nil }
        self.init(version: new.version, columns: columns, isDeletion: false)
    }
}
