// The rows that a connection shows of a query: those delivered last, or read where it stands, with its own writes since.

extension ConnectionQuery {
    /// The rows as `connection` shows them now.
    func rows(_ connection: Connection) throws(StoreError) -> RankedTree {
        if let shown, shown.epoch == connection.epoch, shown.from == connection.own.shownFrom {
            self.shown = try catchUp(shown, connection)
        } else {
            if let fault = plan.fault { throw fault }
            let base: RankedTree
            if connection.isLive, let delivered = deliveredToAnyVariant {
                base = delivered
            } else {
                base = try connection.evaluate(plan.tree, table)
            }
            let start = ShownTree(
                tree: base, epoch: connection.epoch, from: connection.own.shownFrom,
                applied: connection.ownChangesSeenByEvaluation)
            shown = try catchUp(start, connection)
        }
        return shown!.tree
    }

    /// Where a row is among those shown, from the beginning of the window; nil where it is not shown. O(log n).
    func index(of id: ObjectID, _ connection: Connection) throws(StoreError) -> Int? {
        let rows = try rows(connection)
        guard let row = connection.currentRow(table, id), let key = key(row, id, connection.currentSource),
            let rank = rows.rank(of: form.shownKey(key))
        else {
            try connection.checkReads()
            return nil
        }
        let shown = rows.ranks(in: window)
        return shown.contains(rank) ? rank - shown.lowerBound : nil
    }

    /// Brings the connection's own writes into the shown rows, each from where the row was shown before.
    private func catchUp(_ start: ShownTree, _ connection: Connection) throws(StoreError) -> ShownTree {
        let changes = connection.own.changes
        guard start.applied < changes.count else { return start }
        var next = start
        let new = changes[start.applied...]
        let ids =
            plan.tree.needsReach
            ? try connection.dependants(plan.tree, table, new) { next.overlay[$0] != nil }
            : new.compactMap { $0.table == table.id ? ObjectID(rawValue: $0.id) : nil }
        for id in ids {
            let old =
                next.overlay[id]
                ?? connection.deliveredRow(table, id).flatMap { key($0, id, connection.deliveredSource) }
            let new = connection.currentRow(table, id).flatMap { key($0, id, connection.currentSource) }
            next.overlay[id] = .some(new)
            form.apply(
                removals: old.map { $0 == new ? [] : [$0] } ?? [],
                insertions: new.map { [RankedEntry(key: $0, stamp: .max)] } ?? [], to: &next.tree)
        }
        try connection.checkReads()
        next.applied = changes.count
        connection.own.noteUsed()
        return next
    }
}
