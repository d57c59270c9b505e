// Effect of a suppressing commit on the trees of the observers it names: the places of its rows just before and just
// after it. Computed while the trees are still at the old version. A stamp is the version that last changed an observed
// column of a row. Upkeep thread only.
//
// If rows depend on others, only the snapshots before and after the commit show which rows it changed. A step that also
// crosses other commits has neither: an owner may have been renamed before the commit and deleted after it, and the
// change would be reported to the wrong observers. So such a commit comes with both snapshots and is a step of its own
// (`walk`), like one that names an observer whose initial callback is pending. For rows without dependencies, the
// record and the log are enough, or the values if the log lists no changes.

/// Rows of one tree after the last suppressing commit that changed them, in a step whose log lists no changes.
private typealias SilentRows = [ObjectID: (bytes: [UInt8]?, stamp: UInt64?)]

/// Suppressing commits of one step that concern one query.
struct PlannedSkips {
    let subject: (LiveQuery, SharedTree)
    var skips: [TreeSkip] = []
}

extension Upkeep {
    /// Plans the suppressing commits of a step. O(rows of the suppressing commits × queries of the named observers ×
    /// log n).
    func plan(_ skips: [SkipRecord], _ changes: NetChanges, from old: Snapshot) -> [ObjectIdentifier: PlannedSkips] {
        var planned: [ObjectIdentifier: PlannedSkips] = [:]
        var silent: [ObjectIdentifier: SilentRows] = [:]
        for record in skips {
            var rowsOfTrees: [ObjectIdentifier: [TreeSkip.Row]] = [:]
            for (handle, observers) in record.observersOfQueries {
                guard let (query, tree) = live(handle) else { continue }
                guard tree.tree.value != nil else {
                    keepEarly(record, tree, from: old)
                    continue
                }
                let id = ObjectIdentifier(tree)
                let rows =
                    rowsOfTrees[id]
                    ?? rows(of: record, tree, changes, from: old, &silent[id, default: [:]])
                rowsOfTrees[id] = rows
                planned[ObjectIdentifier(query), default: PlannedSkips(subject: (query, tree))].skips.append(
                    TreeSkip(version: record.version, tokens: observers, rows: rows))
            }
        }
        return planned
    }

    /// Keeps a suppressing commit until the tree has been evaluated.
    private func keepEarly(_ record: SkipRecord, _ tree: SharedTree, from old: Snapshot) {
        // It is kept already if several queries of the tree are named, or the step is repeated.
        guard isAlone(record, from: old), tree.early.value.last.map({ $0.record.version < record.version }) ?? true
        else {
            return
        }
        tree.early.value.append(EarlySkip(record, before: old, after: snapshot.value, inbox))
    }

    /// Whether the current step crosses only this commit.
    private func isAlone(_ record: SkipRecord, from old: Snapshot) -> Bool {
        old.version + 1 == record.version && snapshot.value.version == record.version
    }

    /// Rows of a tree that a suppressing commit changed.
    private func rows(
        of record: SkipRecord, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot, _ silent: inout SilentRows
    ) -> [TreeSkip.Row] {
        if isAlone(record, from: old) { return tree.rows(of: record, from: old, to: snapshot.value) }
        return record.rows.compactMap { row in
            // If rows depend on others, only deletions are known.
            guard row.table == tree.table.id, !tree.key.needsReach || row.after == nil else { return nil }
            if changes.isComplete { return plan(row, of: record.version, tree, changes, from: old) }
            return planUnlisted(row, of: record.version, tree, from: old, &silent)
        }
    }

    /// Row of a commit in a step with other commits.
    private func plan(
        _ row: SkipRecord.Row, of version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> TreeSkip.Row {
        let after = tree.key(row.after, row.id, in: snapshot.value)
        return tree.skipped(
            row.id, row.columns, version, isDeleted: row.after == nil,
            before: tree.key(row.before, row.id, in: old), after: after,
            beforeStamp: after == nil ? nil : stamp(of: row, before: version, tree, changes, from: old))
    }

    /// Stamp of a row just before `version`: that of its last observed change in the step, else that of the tree.
    private func stamp(
        of row: SkipRecord.Row, before version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> UInt64? {
        let earlier = changes.history(of: row.id, in: row.table)?.prefix { $0.version < version } ?? []
        if let change = earlier.last(where: { tree.key.observed.includes($0.entry.columns) }) { return change.version }
        return stamp(of: old.row(tree.table, row.id), row.id, tree, in: old)
    }

    /// Stamp of a row in the tree of the last step.
    private func stamp(of row: RowReader?, _ id: ObjectID, _ tree: SharedTree, in old: Snapshot) -> UInt64? {
        tree.stamp(of: tree.key(row, id, in: old), id)
    }

    /// Row of a commit in a step whose log lists no changes. The values show whether other commits have changed the row
    /// before the suppressing one, and after it.
    private func planUnlisted(
        _ row: SkipRecord.Row, of version: UInt64, _ tree: SharedTree, from old: Snapshot, _ silent: inout SilentRows
    ) -> TreeSkip.Row {
        let stored = old.row(tree.table, row.id)
        let known =
            silent[row.id] ?? (stored?.copy(tree.table.layout), stamp(of: stored, row.id, tree, in: old))
        let before = tree.isSame(known.bytes, row.before) ? known.stamp : nil
        // The step gives its newest version to each row that it finds changed.
        let now = snapshot.value.row(tree.table, row.id)?.copy(tree.table.layout)
        let stamp = tree.isSame(row.after, now) ? snapshot.value.version : version
        let skipped = tree.skipped(
            row.id, row.columns, stamp, isDeleted: row.after == nil, before: tree.key(row.before, row.id, in: old),
            after: tree.key(row.after, row.id, in: snapshot.value), beforeStamp: before)
        silent[row.id] = (row.after, skipped.after?.stamp)
        return skipped
    }
}

extension SharedTree {
    /// Rows that a suppressing commit changes in a step of its own, with their places before and after it.
    func rows(of record: SkipRecord, from old: Snapshot, to new: Snapshot) -> [TreeSkip.Row] {
        var columns: [ObjectID: UInt64] = [:]
        for row in record.rows where row.table == table.id { columns[row.id] = row.columns }
        for id in dependants.value.ids { columns[id, default: 0] |= dependants.value.columns(of: id) }
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

    /// Whether two rows agree in the observed columns.
    fileprivate func isSame(_ row: [UInt8]?, _ other: [UInt8]?) -> Bool {
        guard let row, let other else { return row == nil && other == nil }
        return row.withUnsafeBytes { row in
            other.withUnsafeBytes { other in
                !key.observed.includes(RowReader(row).columns(differingFrom: RowReader(other), table.schema))
            }
        }
    }

    func key(_ row: [UInt8]?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        row?.withUnsafeBytes { key(RowReader($0), id, in: source) }
    }
}
