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
        if !dependencies.isEmpty { planDependants(skips, changes, from: old, &planned) }
        return planned
    }

    /// Adds the rows that change by what they lead to, where nothing but commits the observer is not to hear of has
    /// changed that. The step's dependants are with their trees already, stamped with its end.
    private func planDependants(
        _ skips: [SkipRecord], _ changes: NetChanges, from old: Snapshot,
        _ planned: inout [ObjectIdentifier: PlannedSkips]
    ) {
        var seen: Set<ObjectIdentifier> = []
        for token in skips.flatMap(\.tokens).compactMap({ $0 as? CollectionToken }) {
            guard seen.insert(ObjectIdentifier(token)).inserted, let (query, tree) = live(token.query),
                tree.tree != nil, !tree.dependants.isEmpty
            else { continue }
            let silent = Set(skips.filter { $0.tokens.contains { $0 === token } }.map(\.version))
            guard changes.isComplete || snapshot.version == old.version + 1 else { continue }
            let loud = changes.tables.map { change in
                NetChanges.OfTable(
                    table: change.table,
                    rows: change.rows.filter { changes.log[$0.history].contains { !silent.contains($0.version) } })
            }
            var others = Set(loud.first { $0.table.id == tree.table.id }?.rows.map(\.id) ?? [])
            // In both snapshots: a way may have been broken by a silent commit after a loud one.
            dependencies.forEachDependant(of: loud.filter { !$0.rows.isEmpty }, in: [old, snapshot]) {
                dependent, ids, _ in
                if dependent === tree { others.formUnion(ids) }
            }
            let rows = tree.dependants.ids.filter { !others.contains($0) }
                .map { planDependant($0, tree, changes, from: old) }
            planned[ObjectIdentifier(query), default: PlannedSkips(subject: (query, tree))].skips
                .append(TreeSkip(version: snapshot.version, tokens: [token], rows: rows))
        }
    }

    private func planDependant(
        _ id: ObjectID, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> TreeSkip.Row {
        let after = tree.key(snapshot.row(tree.table, id), id, in: snapshot)
        // Written itself as well, by a silent commit: that has been applied by then.
        let own = changes.history(of: id, in: tree.table.id)?.last { tree.key.observed.includes($0.entry.columns) }
        let before = own == nil ? tree.key(old.row(tree.table, id), id, in: old) : after
        let beforeStamp = own?.version ?? before.flatMap { tree.tree?.base.stamp(of: $0) }
        let isTold = tree.key.observed.includes(tree.dependants.columns(of: id))
        return TreeSkip.Row(
            id: id, isDeleted: false, before: before, beforeStamp: beforeStamp,
            after: after.map {
                RankedEntry(key: $0, stamp: isTold ? snapshot.version : beforeStamp ?? snapshot.version)
            }
        )
    }

    private func plan(
        _ row: SkipRecord.Row, of version: UInt64, _ tree: SharedTree, _ changes: NetChanges, from old: Snapshot
    ) -> TreeSkip.Row? {
        // What other rows were like between two commits of one step, nobody knows any more.
        let isKnown = !tree.key.needsReach || old.version + 1 == version && snapshot.version == version
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
        let known = tree.key(old.row(tree.table, row.id), row.id, in: old).flatMap { tree.tree?.base.stamp(of: $0) }
        return known ?? earlier.last?.version
    }
}

extension SharedTree {
    func key(_ row: [UInt8]?, _ id: ObjectID, in source: any RowSource) -> RankedKey? {
        row?.withUnsafeBytes { key(RowReader($0), id, in: source) }
    }
}
