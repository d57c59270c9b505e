// What a silent commit means for the trees of the observers it names: where each of its rows stood just before it, and
// just after. Worked out while the trees still stand at the old version. Upkeep thread only.

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
            let queries = Dictionary(
                grouping: record.tokens.compactMap { $0 as? CollectionToken }, by: { ObjectIdentifier($0.query) })
            for tokens in queries.values {
                guard let (query, tree) = live(tokens[0].query), tree.tree != nil else { continue }
                let rows = record.rows.filter { $0.table == tree.table.id }
                    .compactMap { plan($0, of: record.version, tree, changes, from: old) }
                planned[ObjectIdentifier(query), default: PlannedSkips(subject: (query, tree))].skips
                    .append(TreeSkip(version: record.version, tokens: tokens, rows: rows))
            }
        }
        return planned
    }

    private func plan(
        _ row: SkipRecord.Row, of version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> TreeSkip.Row? {
        // What other rows were like between two commits of one step, nobody knows any more.
        let isKnown = !tree.needsReach || old.version + 1 == version && snapshot.version == version
        guard isKnown || row.after == nil else { return nil }
        let before = tree.key(row.before, row.id, in: old)
        let after = tree.key(row.after, row.id, in: snapshot)
        var beforeStamp: UInt64?
        if before != nil, after != nil {
            beforeStamp = stamp(of: row, before: version, tree, changes, from: old)
        }
        let isObserved = tree.key.observed.includes(row.columns)
        return TreeSkip.Row(
            id: row.id, isDeleted: row.after == nil, before: before, beforeStamp: beforeStamp,
            after: after.map { RankedEntry(key: $0, stamp: isObserved ? version : beforeStamp ?? version) })
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
        let known = tree.key(old.row(tree.table, row.id), row.id, in: old).flatMap { tree.tree?.stamp(of: $0) }
        return known ?? earlier.last?.version
    }
}

extension SharedTree {
    func key(_ row: [UInt8]?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        row?.withUnsafeBytes { key(RowReader($0), id, in: source) }
    }
}
