// A ranked tree kept true for all live queries that share it, which are windows over it. All of it belongs to the upkeep
// thread, except the first evaluation, which fills a tree nobody else has yet.

/// Unchecked because upkeep's thread has it, and the evaluator reads what is constant. No access is checked for being the only
/// one, either: of a hundred filters' upkeep these checks took 7 %.
final class SharedTree: @unchecked Sendable {
    let key: TreeKey
    let table: Table
    private let residual: RowTest
    fileprivate let form: TreeForm
    @exclusivity(unchecked) private var encoder: SortKeyEncoder

    /// nil until the first evaluation has been taken over.
    @exclusivity(unchecked) var tree: RankedTree?
    /// Silent commits that upkeep has crossed before that, which name observers of the tree.
    @exclusivity(unchecked) var early: [EarlySkip] = []
    @exclusivity(unchecked) private(set) var queries: [LiveQuery?] = []
    @exclusivity(unchecked) private var windows = IntervalIndex()
    private var freeHandles: [Int] = []

    /// What the current step does to the tree.
    @exclusivity(unchecked) private var removals: [RankedKey] = []
    @exclusivity(unchecked) private var insertions: [RankedEntry] = []
    /// The measures of the insertions, where the tree has any.
    @exclusivity(unchecked) private var values: [UInt64] = []
    private var measures = Measures()
    /// Whether a tree with other measures is being made of this one.
    var isBeingMeasured = false
    /// Where the step's rows were and are, for finding the windows it touches.
    @exclusivity(unchecked) private var touchedKeys: [RankedKey] = []
    private var step = 0
    /// Windows that one of those may be in; kept for its memory.
    @exclusivity(unchecked) private var hits = HandleList()
    /// The tree before the step, while its windows are told.
    @exclusivity(unchecked) private var before: RankedTree?
    /// What the step makes of that, once a window has asked.
    @exclusivity(unchecked) private var difference: TreeDifference?
    /// Where stamps of rows are kept that leave and may come back; nil where no row can, or none is told as modified.
    private let departed: DepartedRows?
    /// What the current step takes out of the tree and leaves in the store.
    @exclusivity(unchecked) private var leaving: [ObjectID] = []
    @exclusivity(unchecked) private var held = HeldRoots()
    /// The tree that this is a copy of, on its way to an older version.
    private var origin: SharedTree?
    /// Rows that the current step changes by what they lead to.
    @exclusivity(unchecked) var dependants = DependantRows()

    init(_ key: TreeKey, _ table: Table, _ departed: DepartedRows? = nil) {
        self.key = key
        self.table = table
        self.departed = key.canTakeBack ? departed : nil
        residual = RowTest(key.residual)
        form = TreeForm(key, table.schema)
        encoder = SortKeyEncoder(key, table.schema)
    }

    // MARK: Windows

    /// The query of this plan, made if there is none.
    func query(_ plan: QueryPlan) -> LiveQuery {
        for case let query? in queries where query.plan == plan { return query }
        let query = LiveQuery(plan)
        let handle = freeHandles.popLast() ?? queries.count
        if handle == queries.count { queries.append(query) } else { queries[handle] = query }
        // The index knows eight bytes of each bound, the upper one closed: candidates are checked against the keys.
        windows.insert(query.window.lower?.prefix ?? 0, query.window.upper?.prefix ?? .max, handle: handle)
        return query
    }

    /// Whether a connection observes one of its queries.
    func isObserved(by mailbox: Mailbox) -> Bool {
        queries.contains { $0?.subscriptions.contains { $0.connection.mailbox === mailbox } ?? false }
    }

    /// Forgets a query nobody watches any more; true when it was the last.
    func drop(_ query: LiveQuery) -> Bool {
        guard let handle = queries.firstIndex(where: { $0 === query }) else { return false }
        queries[handle] = nil
        freeHandles.append(handle)
        windows.remove(handle: handle)
        return freeHandles.count == queries.count
    }

    // MARK: Keeping true

    /// Whether the current step has noted a row.
    var hasNotes: Bool { !touchedKeys.isEmpty }

    /// Notes one row that may have changed between two snapshots; true when the tree changes with it.
    /// - Parameter columns: those that were written; all for a row that changed with what it leads to.
    func note(
        _ id: ObjectID, from: Snapshot, old: RowReader?, to: Snapshot, new: RowReader?, columns: UInt64, version: UInt64
    ) -> Bool {
        let oldKey = key(old, id, in: from)
        let newKey = key(new, id, in: to)
        let isModified = key.observed.includes(columns)
        if oldKey == nil, newKey == nil {
            if isModified { departed?.note(id, self, stamp: version) }
            return false
        }
        if !isModified, oldKey == newKey { return false }
        var stamp = isModified ? version : stamp(of: oldKey, id)
        if let origin, oldKey == nil { stamp = origin.takeBack(id, isModified: isModified, from: from, to: to) }
        if let newKey {
            insertions.append(RankedEntry(key: newKey, stamp: stamp))
            if !measures.isEmpty, let new { measures.append(new, to: &values) }
            touchedKeys.append(newKey)
            if oldKey == nil { departed?.forget(id, self) }
        } else if new != nil, let departed {
            departed.leave(id, self, stamp: stamp, step: step + 1)
            leaving.append(id)
        }
        if let oldKey, oldKey != newKey {
            removals.append(oldKey)
            touchedKeys.append(oldKey)
        }
        return true
    }

    /// The version that last changed an observed column of a row, as far as the tree knows; 0 where it knows of none.
    /// - Parameter key: where the row stands; nil where it stands nowhere, or not any more.
    func stamp(of key: RankedKey?, _ id: ObjectID) -> UInt64 {
        key.flatMap { tree?.base.stamp(of: $0) } ?? departed?.stamp(of: id, self) ?? 0
    }

    /// The root as it was at an older version; nil before the first evaluation. O(changes in between).
    func root(at older: Snapshot, from now: Snapshot) -> RankedTree? {
        if tree == nil || older.version == now.version { return tree }
        step += 1
        let copy = SharedTree(key, table)
        copy.tree = tree
        copy.measures = measures
        copy.origin = self
        copy.move(from: now, to: older)
        if departed != nil, let root = copy.tree?.root { held.end(root, step: step, left: leaving) }
        leaving.removeAll()
        return copy.tree
    }

    /// The stamp at an older version of a row that has left since. From then on it is kept like that of any which leaves.
    private func takeBack(_ id: ObjectID, isModified: Bool, from now: Snapshot, to older: Snapshot) -> UInt64 {
        if key.observed == .columns(0) { return 0 }
        guard let departed, now.row(table, id) != nil else { return older.version }
        let known = departed.stamp(of: id, self)
        // From now on for the older root's sake.
        departed.forget(id, self)
        departed.leave(id, self, stamp: known ?? (isModified ? now.version : older.version), step: step)
        leaving.append(id)
        return isModified ? older.version : known ?? older.version
    }

    /// Rows that a silent commit of the coming step takes in and a later commit of the step takes out: the tree never has
    /// them, and whom the silence is for knows them all the same. They are kept like those that leave. O(silent rows × log n).
    func keepPassing(_ skips: [TreeSkip], from old: Snapshot, to new: Snapshot) {
        guard let departed else { return }
        for row in skips.flatMap(\.rows) {
            guard let after = row.after, key(old.row(table, row.id), row.id, in: old) == nil,
                let now = new.row(table, row.id), key(now, row.id, in: new) == nil
            else { continue }
            let known = departed.stamp(of: row.id, self)
            departed.forget(row.id, self)
            departed.leave(row.id, self, stamp: known ?? after.stamp, step: step + 1)
            leaving.append(row.id)
        }
    }

    /// Forgets what is kept for rows that left.
    func forgetDeparted() {
        guard let departed else { return }
        held.forgetAll { departed.forget($0, self, step: $1) }
        // A row that only passed leaves no step behind it that would have ended a root.
        for id in leaving { departed.forget(id, self) }
        leaving.removeAll()
    }

    /// The key of a row; nil where it does not pass.
    /// - Parameter source: where the other rows are read that the filter asks about.
    func key(_ row: RowReader?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        guard let row else { return nil }
        return residual.passes(row, id, source, table.links) ? encoder.key(row, id, source, table.links) : nil
    }

    /// Goes on with a tree of the same rows.
    fileprivate func replaceTree(by next: RankedTree) {
        // Who holds the one before it has what left since, as after a step.
        if departed != nil, let tree { held.end(tree.root, step: step, left: []) }
        tree = next
        measures = next.measures
    }

    private func applyToTree() {
        if measures.isEmpty { return form.apply(removals: removals, insertions: insertions, to: &tree!) }
        form.apply(removals: removals, insertions: insertions, values: values, to: &tree!)
        values.removeAll(keepingCapacity: true)
    }

    /// So many rows are looked up one by one, to tell what a step has changed; of more, the two trees are compared, and of
    /// those perhaps one window.
    private static let fewRows = 8

    /// How the tree that somebody was last sent became this one in a window: by the current step alone, because who watches a window
    /// is sent each tree that a step makes which touches it. nil outside of a step, and where comparing trees costs less.
    @inline(__always)
    func changes(from sent: RankedTree, of query: LiveQuery) -> KnownChanges? {
        guard let before else { return nil }
        if difference == nil {
            guard let tree, form.isPlain, removals.count + insertions.count <= Self.fewRows else { return nil }
            difference = TreeDifference(from: before, to: tree, removing: removals, inserting: insertions)
        }
        return difference.map { query.changes($0, from: sent) }
    }

    /// Applies what was noted, and calls `body` with each query whose window it touches.
    ///
    /// Inlining is asked for because the optimiser does not do it: without it upkeep took 2 to 8 percent more.
    @inline(__always)
    func applyNoted(_ body: (LiveQuery) -> Void) {
        before = tree
        if tree != nil { applyToTree() }
        step += 1
        if let departed, let before {
            held.end(before.root, step: step, left: leaving)
            leaving.removeAll()
            held.forgetReleased { departed.forget($0, self, step: $1) }
        }
        for key in touchedKeys {
            hits.removeAll()
            windows.append(containing: key.prefix, to: &hits)
            for index in 0..<hits.count {
                guard let query = queries[hits[index]], query.touchedStep != step, query.ends.contains(key) else {
                    continue
                }
                query.touchedStep = step
                body(query)
            }
        }
        (before, difference) = (nil, nil)
        removals.removeAll(keepingCapacity: true)
        insertions.removeAll(keepingCapacity: true)
        touchedKeys.removeAll(keepingCapacity: true)
    }
}

extension SharedTree {
    /// What its observers have asked for numbers about.
    var wantedMeasures: Measures {
        let columns = queries.reduce(0) { columns, query in
            (query?.subscriptions ?? []).reduce(columns) { $0 | $1.measured }
        }
        return Measures(columns: columns, table.schema)
    }

    /// As it is in a snapshot, with other measures. Any thread.
    func measured(_ tree: RankedTree, _ measures: Measures, in snapshot: Snapshot) -> RankedTree {
        form.measured(tree, measures, table, in: snapshot)
    }

    /// Goes on with a tree that has other measures and was made of an earlier one of this. O(changes since).
    func take(_ measured: RankedTree, madeOf earlier: RankedTree, at snapshot: Snapshot) {
        guard let tree else { return }
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
