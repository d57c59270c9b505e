// A ranked tree that upkeep keeps current for all live queries that are windows over it.
import StillingWellSync
import Synchronization

/// State is used by the thread that made the tree, mostly upkeep's. The evaluator reads constants and `isDropped`.
final class SharedTree: Sendable {
    let key: TreeKey
    let table: Table
    private let residual: RowTest
    fileprivate let form: TreeForm
    private let encoder: DeliveryBound<SortKeyEncoder>

    /// Whether upkeep has dropped the tree. Read by the evaluator.
    let isDropped = Atomic(false)
    /// nil until the first evaluation has been taken over.
    let tree = DeliveryBound<RankedTree?>(nil)
    /// Suppressing commits that upkeep crossed before the first evaluation, and that name observers of the tree.
    let early = DeliveryBound<[EarlySkip]>([])
    let queries = DeliveryBound<[LiveQuery?]>([])
    private let windows = DeliveryBound(IntervalIndex())
    private let freeHandles = DeliveryBound<[Int]>([])

    /// Entries that the current step removes and inserts.
    private let removals = DeliveryBound<[RankedKey]>([])
    private let insertions = DeliveryBound<[RankedEntry]>([])
    /// Measures of the insertions, if the tree has measures.
    private let values = DeliveryBound<[UInt64]>([])
    private let measures = DeliveryBound(Measures())
    /// Whether a copy of this tree with other measures is being made.
    let isBeingMeasured = DeliveryBound(false)
    /// Old and new keys of the step's rows, for finding the windows that the step touches.
    private let touchedKeys = DeliveryBound<[RankedKey]>([])
    private let step = DeliveryBound(0)
    /// Windows that a touched key may be in. Kept between steps to reuse its memory.
    private let hits = DeliveryBound(HandleList())
    /// Tree before the step, while `applyNoted` runs.
    private let before = DeliveryBound<RankedTree?>(nil)
    /// Difference between the trees before and after the step, computed for the first window that needs it.
    private let difference = DeliveryBound<TreeDifference?>(nil)
    /// Stamps (versions that last changed an observed column) of departed rows, or nil if none are kept.
    private let departed: DeliveryBound<DepartedRows?>
    /// Rows whose stamps the current step has begun to keep in `departed`.
    private let leaving = DeliveryBound<[ObjectID]>([])
    private let held = DeliveryBound(HeldRoots())
    /// The tree that this is a copy of, while the copy is moved to an older version.
    private let origin = DeliveryBound<SharedTree?>(nil)
    /// Rows that the current step changes through the objects that they link to.
    let dependants = DeliveryBound(DependantRows())

    init(_ key: TreeKey, _ table: Table, _ departed: DepartedRows? = nil) {
        self.key = key
        self.table = table
        self.departed = DeliveryBound(here: key.canTakeBack ? departed : nil)
        residual = RowTest(key.residual)
        form = TreeForm(key, table.schema)
        encoder = DeliveryBound(SortKeyEncoder(key, table.schema))
    }

    // MARK: Windows

    /// Returns the query of this plan, made if necessary.
    func query(_ plan: QueryPlan) -> LiveQuery {
        for case let query? in queries.value where query.plan == plan { return query }
        let query = LiveQuery(plan)
        let handle = freeHandles.value.popLast() ?? queries.value.count
        if handle == queries.value.count { queries.value.append(query) } else { queries.value[handle] = query }
        // The index uses the first eight bytes of each bound, both closed. Candidates are checked against the full
        // keys.
        windows.value.insert(query.window.lower?.prefix ?? 0, query.window.upper?.prefix ?? .max, handle: handle)
        return query
    }

    /// Returns whether a connection observes one of the tree's queries.
    func isObserved(by mailbox: Mailbox) -> Bool {
        queries.value.contains { $0?.subscriptions.value.contains { $0.connection.mailbox === mailbox } ?? false }
    }

    /// Removes a query without subscriptions. Returns true if it was the tree's last.
    func drop(_ query: LiveQuery) -> Bool {
        guard let handle = queries.value.firstIndex(where: { $0 === query }) else { return false }
        queries.value[handle] = nil
        freeHandles.value.append(handle)
        windows.value.remove(handle: handle)
        return freeHandles.value.count == queries.value.count
    }

    // MARK: Keeping true

    /// Whether the current step has noted a row.
    var hasNotes: Bool { !touchedKeys.value.isEmpty }

    /// Notes a row that may have changed between two snapshots. Returns true if the tree changes.
    /// - Parameter columns: the written columns; all bits for a row that counts as modified through links.
    func note(
        _ id: ObjectID, from: Snapshot, old: RowReader?, to: Snapshot, new: RowReader?, columns: UInt64, version: UInt64
    ) -> Bool {
        let oldKey = key(old, id, in: from)
        let newKey = key(new, id, in: to)
        let isModified = key.observed.includes(columns)
        if oldKey == nil, newKey == nil {
            if isModified { departed.value?.note(id, self, stamp: version) }
            return false
        }
        if !isModified, oldKey == newKey { return false }
        var stamp = isModified ? version : stamp(of: oldKey, id)
        if let origin = origin.value, oldKey == nil {
            stamp = origin.takeBack(id, isModified: isModified, from: from, to: to)
        }
        if let newKey {
            insertions.value.append(RankedEntry(key: newKey, stamp: stamp))
            if !measures.value.isEmpty, let new { measures.value.append(new, to: &values.value) }
            touchedKeys.value.append(newKey)
            if oldKey == nil { departed.value?.forget(id, self) }
        } else if new != nil, let departed = departed.value {
            departed.leave(id, self, stamp: stamp, step: step.value + 1)
            leaving.value.append(id)
        }
        if let oldKey, oldKey != newKey {
            removals.value.append(oldKey)
            touchedKeys.value.append(oldKey)
        }
        return true
    }

    /// Last version that changed an observed column of a row, as far as the tree knows, else 0.
    /// - Parameter key: the row's key in the tree, or nil if it is not in the tree.
    func stamp(of key: RankedKey?, _ id: ObjectID) -> UInt64 {
        key.flatMap { tree.value?.base.stamp(of: $0) } ?? departed.value?.stamp(of: id, self) ?? 0
    }

    /// The tree at an older version, or nil before the first evaluation.
    func root(at older: Snapshot, from now: Snapshot) -> RankedTree? {
        if tree.value == nil || older.version == now.version { return tree.value }
        step.value += 1
        let copy = SharedTree(key, table)
        copy.tree.value = tree.value
        copy.measures.value = measures.value
        copy.origin.value = self
        copy.move(from: now, to: older)
        if departed.value != nil, let root = copy.tree.value?.root {
            held.value.end(root, step: step.value, left: leaving.value)
        }
        leaving.value.removeAll()
        return copy.tree.value
    }

    /// Stamp of a row at an older version, after which it left the tree. Its stamp is kept from then on.
    private func takeBack(_ id: ObjectID, isModified: Bool, from now: Snapshot, to older: Snapshot) -> UInt64 {
        if key.observed == .columns(0) { return 0 }
        guard let departed = departed.value, now.row(table, id) != nil else { return older.version }
        let known = departed.stamp(of: id, self)
        // The stamp is kept for the older root from now on.
        departed.forget(id, self)
        departed.leave(id, self, stamp: known ?? (isModified ? now.version : older.version), step: step.value)
        leaving.value.append(id)
        return isModified ? older.version : known ?? older.version
    }

    /// Keeps stamps of rows that a suppressing commit of the coming step inserts and a later commit of the same step
    /// removes. The tree never has these rows, but observers named by the suppressing commit know them. O(its rows ×
    /// log n).
    func keepPassing(_ skips: [TreeSkip], from old: Snapshot, to new: Snapshot) {
        guard let departed = departed.value else { return }
        for row in skips.flatMap(\.rows) {
            guard let after = row.after, key(old.row(table, row.id), row.id, in: old) == nil,
                let now = new.row(table, row.id), key(now, row.id, in: new) == nil
            else { continue }
            let known = departed.stamp(of: row.id, self)
            departed.forget(row.id, self)
            departed.leave(row.id, self, stamp: known ?? after.stamp, step: step.value + 1)
            leaving.value.append(row.id)
        }
    }

    /// Forgets all departed rows.
    func forgetDeparted() {
        guard let departed = departed.value else { return }
        held.value.forgetAll { departed.forget($0, self, step: $1) }
        // A row that was only passing has no step that ended a root.
        for id in leaving.value { departed.forget(id, self) }
        leaving.value.removeAll()
    }

    /// Key of a row, or nil if there is no row or it does not pass the filter.
    /// - Parameter source: source of other rows that the filter reads.
    func key(_ row: RowReader?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        guard let row else { return nil }
        return residual.passes(row, id, source, table.links) ? encoder.value.key(row, id, source, table.links) : nil
    }

    /// Replaces the tree by one with the same rows.
    fileprivate func replaceTree(by next: RankedTree) {
        // Holders of the previous tree need the rows that leave from now on, as after a step.
        if departed.value != nil, let tree = tree.value { held.value.end(tree.root, step: step.value, left: []) }
        tree.value = next
        measures.value = next.measures
    }

    private func applyToTree() {
        if measures.value.isEmpty {
            return form.apply(removals: removals.value, insertions: insertions.value, to: &tree.value!)
        }
        form.apply(removals: removals.value, insertions: insertions.value, values: values.value, to: &tree.value!)
        values.value.removeAll(keepingCapacity: true)
    }

    /// Number of changed rows up to which a step's changes are found by lookups. For more, the two trees are compared.
    private static let fewRows = 8

    /// Changes of a window from the tree that was sent last to the current one. These are the changes of the current
    /// step, because each tree whose step touched the window was sent. Returns nil outside of a step, and if trees have
    /// to be compared.
    @inline(__always)
    func changes(from sent: RankedTree, of query: LiveQuery) -> KnownChanges? {
        guard let before = before.value else { return nil }
        if difference.value == nil {
            guard let tree = tree.value, form.isPlain, removals.value.count + insertions.value.count <= Self.fewRows
            else { return nil }
            difference.value = TreeDifference(
                from: before, to: tree, removing: removals.value, inserting: insertions.value)
        }
        return difference.value.map { query.changes($0, from: sent) }
    }

    /// Applies the noted changes, and calls `body` with each query whose window they touch.
    ///
    /// Inlined explicitly, because the optimiser does not do it. Without inlining, upkeep took 2 to 8 % longer.
    @inline(__always)
    func applyNoted(_ body: (LiveQuery) -> Void) {
        before.value = tree.value
        if tree.value != nil { applyToTree() }
        step.value += 1
        if let departed = departed.value, let before = before.value {
            held.value.end(before.root, step: step.value, left: leaving.value)
            leaving.value.removeAll()
            held.value.forgetReleased { departed.forget($0, self, step: $1) }
        }
        for key in touchedKeys.value {
            hits.value.removeAll()
            windows.value.append(containing: key.prefix, to: &hits.value)
            for index in 0..<hits.value.count {
                guard let query = queries.value[hits.value[index]], query.touchedStep != step.value,
                    query.ends.contains(key)
                else {
                    continue
                }
                query.touchedStep = step.value
                body(query)
            }
        }
        (before.value, difference.value) = (nil, nil)
        removals.value.removeAll(keepingCapacity: true)
        insertions.value.removeAll(keepingCapacity: true)
        touchedKeys.value.removeAll(keepingCapacity: true)
    }
}

extension SharedTree {
    /// Measures (stored column values) that the observers of the tree need for their sums and extremes.
    var wantedMeasures: Measures {
        let columns = queries.value.reduce(0) { columns, query in
            (query?.subscriptions.value ?? []).reduce(columns) { $0 | $1.measured }
        }
        return Measures(columns: columns, table.schema)
    }

    /// The tree in a snapshot, with other measures. Any thread.
    func measured(_ tree: RankedTree, _ measures: Measures, in snapshot: Snapshot) -> RankedTree {
        form.measured(tree, measures, table, in: snapshot)
    }

    /// Replaces the tree by one with other measures that was made from an earlier version of it. O(changes since).
    func take(_ measured: RankedTree, madeOf earlier: RankedTree, at snapshot: Snapshot) {
        guard let tree = tree.value else { return }
        let (removals, insertions) = earlier.base.changes(to: tree.base)
        var values: [UInt64] = []
        for entry in insertions {
            measured.measures.append(snapshot.row(table, ObjectID(rawValue: entry.key.id)), to: &values)
        }
        var next = measured
        form.apply(removals: removals, insertions: insertions, values: values, to: &next)
        replaceTree(by: next)
    }
}
