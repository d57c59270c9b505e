// What a silent commit means for the trees of the observers it names: where each of its rows stood just before it, and
// just after. Worked out while the trees still stand at the old version. Upkeep thread only.
//
// Where rows depend on others, only the two snapshots around the commit tell: which rows it changed, and where they stood.
// A step that crosses other commits too has neither (an owner may have been renamed before it and deleted after it), and
// what was guessed from the step's ends was told as somebody else's change. So such a commit comes with both snapshots, and
// upkeep makes it a step of its own (`walk`). Rows that depend on nothing but themselves have all in the record and the log.

/// The silent commits of one step that concern one query.
struct PlannedSkips {
    let subject: (LiveQuery, SharedTree)
    var skips: [TreeSkip] = []
}

extension Upkeep {
    /// O(rows of the silent commits × queries of the observers they name × log n).
    func plan(_ skips: [SkipRecord], _ changes: NetChanges, from old: Snapshot) -> [ObjectIdentifier: PlannedSkips] {
        var planned: [ObjectIdentifier: PlannedSkips] = [:]
        for record in skips {
            for (handle, observers) in record.observersOfQueries {
                guard let (query, tree) = live(handle) else { continue }
                guard tree.tree != nil else {
                    keepEarly(record, tree, from: old)
                    continue
                }
                planned[ObjectIdentifier(query), default: PlannedSkips(subject: (query, tree))].skips.append(
                    TreeSkip(
                        version: record.version, tokens: observers, rows: rows(of: record, tree, changes, from: old)))
            }
        }
        return planned
    }

    /// Keeps a silent commit for when the tree has been evaluated.
    private func keepEarly(_ record: SkipRecord, _ tree: SharedTree, from old: Snapshot) {
        // Where several of its queries are named, or the step is done again, it is there already.
        guard isAlone(record, from: old), tree.early.last.map({ $0.record.version < record.version }) ?? true else {
            return
        }
        tree.early.append(EarlySkip(record, before: old, after: snapshot, inbox))
    }

    /// Whether the current step crosses this commit and no other.
    private func isAlone(_ record: SkipRecord, from old: Snapshot) -> Bool {
        old.version + 1 == record.version && snapshot.version == record.version
    }

    /// The rows of a tree that a silent commit changed.
    private func rows(
        of record: SkipRecord, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> [TreeSkip.Row] {
        if isAlone(record, from: old) { return tree.rows(of: record, from: old, to: snapshot) }
        return record.rows.compactMap {
            $0.table == tree.table.id ? plan($0, of: record.version, tree, changes, from: old) : nil
        }
    }

    /// A row of a commit among others of a step. Of rows that depend on others nobody knows more than whether they are gone.
    private func plan(
        _ row: SkipRecord.Row, of version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> TreeSkip.Row? {
        guard !tree.key.needsReach || row.after == nil else { return nil }
        let after = tree.key(row.after, row.id, in: snapshot)
        return tree.skipped(
            row.id, row.columns, version, isDeleted: row.after == nil,
            before: tree.key(row.before, row.id, in: old), after: after,
            beforeStamp: after == nil ? nil : stamp(of: row, before: version, tree, changes, from: old))
    }

    /// The stamp a row had just before `version`: that of its last observed change within the step, or else the tree's.
    private func stamp(
        of row: SkipRecord.Row, before version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> UInt64? {
        var earlier: ArraySlice<LoggedChange> = []
        if let history = changes.history(of: row.id, in: row.table) {
            earlier = history.prefix { $0.version < version }
        } else if old.version + 1 != version {
            return nil
        }
        if let change = earlier.last(where: { tree.key.observed.includes($0.entry.columns) }) { return change.version }
        return tree.stamp(of: tree.key(old.row(tree.table, row.id), row.id, in: old), row.id)
    }
}

extension SharedTree {
    /// The rows that a silent commit changes which is a step of its own: where they stand before it, and will stand.
    func rows(of record: SkipRecord, from old: Snapshot, to new: Snapshot) -> [TreeSkip.Row] {
        var columns: [ObjectID: UInt64] = [:]
        for row in record.rows where row.table == table.id { columns[row.id] = row.columns }
        for id in dependants.ids { columns[id, default: 0] |= dependants.columns(of: id) }
        return columns.map { id, columns in
            let now = new.row(table, id)
            let before = key(old.row(table, id), id, in: old)
            return skipped(
                id, columns, record.version, isDeleted: now == nil, before: before, after: key(now, id, in: new),
                beforeStamp: stamp(of: before, id))
        }
    }

    fileprivate func skipped(
        _ id: ObjectID, _ columns: UInt64, _ version: UInt64, isDeleted: Bool, before: RankedKey?, after: RankedKey?,
        beforeStamp: UInt64?
    ) -> TreeSkip.Row {
        let stamp = key.observed.includes(columns) ? version : beforeStamp ?? 0
        return TreeSkip.Row(
            id: id, isDeleted: isDeleted, before: before, beforeStamp: beforeStamp,
            after: after.map { RankedEntry(key: $0, stamp: stamp) })
    }

    func key(_ row: [UInt8]?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        row?.withUnsafeBytes { key(RowReader($0), id, in: source) }
    }
}
