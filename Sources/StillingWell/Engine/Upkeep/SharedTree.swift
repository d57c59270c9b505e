// A ranked tree that upkeep keeps current for all live queries that are windows over it. Used on the upkeep thread
// only, except for the first evaluation, which fills a tree that no other thread uses yet.

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
    /// Whether a copy of this tree with other measures is being made.
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
    /// Stamps of departed rows. Nil if no row can come back, or no row is reported as modified.
    private let departed: DepartedRows?
    /// What the current step takes out of the tree and leaves in the store.
    @exclusivity(unchecked) private var leaving: [ObjectID] = []
    @exclusivity(unchecked) private var held = HeldRoots()
    /// The tree that this is a copy of, while the copy is moved to an older version.
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

    /// Returns the query of this plan, made if necessary.
    func query(_ plan: QueryPlan) -> LiveQuery {
        for case let query? in queries where query.plan == plan { return query }
        let query = LiveQuery(plan)
        let handle = freeHandles.popLast() ?? queries.count
        if handle == queries.count { queries.append(query) } else { queries[handle] = query }
        // The index uses the first eight bytes of each bound, both closed. Candidates are checked against the full
        // keys.
        windows.insert(query.window.lower?.prefix ?? 0, query.window.upper?.prefix ?? .max, handle: handle)
        return query
    }

    /// Returns whether a connection observes one of the tree's queries.
    func isObserved(by mailbox: Mailbox) -> Bool {
        queries.contains { $0?.subscriptions.contains { $0.connection.mailbox === mailbox } ?? false }
    }

    /// Removes a query without subscriptions. Returns true if it was the tree's last.
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

    /// Notes a row that may have changed between two snapshots. Returns true if the tree changes.
    /// - Parameter columns: the written columns; all bits for a row that changed through links.
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

    /// Last version that changed an observed column of a row, as far as the tree knows, else 0.
    /// - Parameter key: the row's key in the tree, or nil if it is not in the tree.
    func stamp(of key: RankedKey?, _ id: ObjectID) -> UInt64 {
        key.flatMap { tree?.base.stamp(of: $0) } ?? departed?.stamp(of: id, self) ?? 0
    }

    /// The tree at an older version, or nil before the first evaluation. O(changes in between).
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

    /// Stamp of a row at an older version, after which it left. From then on it is kept like that of any departed row.
    private func takeBack(_ id: ObjectID, isModified: Bool, from now: Snapshot, to older: Snapshot) -> UInt64 {
        if key.observed == .columns(0) { return 0 }
        guard let departed, now.row(table, id) != nil else { return older.version }
        let known = departed.stamp(of: id, self)
        // The stamp is kept for the older root from now on.
        departed.forget(id, self)
        departed.leave(id, self, stamp: known ?? (isModified ? now.version : older.version), step: step)
        leaving.append(id)
        return isModified ? older.version : known ?? older.version
    }

    /// Keeps stamps of rows that a silent commit of the coming step inserts and a later commit of the same step
    /// removes. The tree never has these rows, but observers named by the silent commit know them. O(silent rows × log
    /// n).
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

    /// Forgets all departed rows.
    func forgetDeparted() {
        guard let departed else { return }
        held.forgetAll { departed.forget($0, self, step: $1) }
        // A row that was only passing has no step that ended a root.
        for id in leaving { departed.forget(id, self) }
        leaving.removeAll()
    }

    /// Key of a row, or nil if the row does not pass the filter.
    /// - Parameter source: source of other rows that the filter reads.
    func key(_ row: RowReader?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        guard let row else { return nil }
        return residual.passes(row, id, source, table.links) ? encoder.key(row, id, source, table.links) : nil
    }

    /// Replaces the tree by one with the same rows.
    fileprivate func replaceTree(by next: RankedTree) {
        // Holders of the previous tree need the rows that leave from now on, as after a step.
        if departed != nil, let tree { held.end(tree.root, step: step, left: []) }
        tree = next
        measures = next.measures
    }

    private func applyToTree() {
        if measures.isEmpty { return form.apply(removals: removals, insertions: insertions, to: &tree!) }
        form.apply(removals: removals, insertions: insertions, values: values, to: &tree!)
        values.removeAll(keepingCapacity: true)
    }

    /// Number of changed rows up to which a step's changes are found by lookups. For more, the two trees are compared.
    private static let fewRows = 8

    /// Changes of a window from the tree that was sent last to the current one. These are the changes of the current
    /// step, because each tree whose step touched the window was sent. Returns nil outside of a step, and if comparing
    /// trees is cheaper.
    @inline(__always)
    func changes(from sent: RankedTree, of query: LiveQuery) -> KnownChanges? {
        guard let before else { return nil }
        if difference == nil {
            guard let tree, form.isPlain, removals.count + insertions.count <= Self.fewRows else { return nil }
            difference = TreeDifference(from: before, to: tree, removing: removals, inserting: insertions)
        }
        return difference.map { query.changes($0, from: sent) }
    }

    /// Applies the noted changes, and calls `body` with each query whose window they touch.
    ///
    /// Inlined explicitly, because the optimiser does not do it. Without inlining, upkeep took 2 to 8 % longer.
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
    /// Measures that observers of the tree have asked for.
    var wantedMeasures: Measures {
        let columns = queries.reduce(0) { columns, query in
            (query?.subscriptions ?? []).reduce(columns) { $0 | $1.measured }
        }
        return Measures(columns: columns, table.schema)
    }

    /// The tree in a snapshot, with other measures. Any thread.
    func measured(_ tree: RankedTree, _ measures: Measures, in snapshot: Snapshot) -> RankedTree {
        form.measured(tree, measures, table, in: snapshot)
    }

    /// Replaces the tree by one with other measures that was made from an earlier version of it. O(changes since).
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
