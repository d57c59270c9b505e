// Index of a row among the rows that a connection shows of a query, and a live connection's own writes in those rows.

extension ConnectionQuery {
    /// Returns the index of a row in the window, or nil if it is not shown. O(log n) once the query is evaluated.
    func index(of id: ObjectID, _ connection: Connection) throws(StoreError) -> Int? {
        let rows = try connection.rows(self)
        guard let key = keyShown(id, connection), let rank = rows.tree.rank(of: form.shownKey(key)) else {
            try connection.checkReads()
            return nil
        }
        return rows.ranks.contains(rank) ? rank - rows.ranks.lowerBound : nil
    }

    /// Key under which a row is shown. That of the newest row may differ: it has what others have committed since the
    /// delivered version.
    private func keyShown(_ id: ObjectID, _ connection: Connection) -> RankedKey? {
        if let own = shown?.overlay[id] { return own }
        guard let delivered = connection.delivered else {
            return connection.currentRow(table, id).flatMap { key($0, id, connection.currentSource) }
        }
        return connection.deliveredRow(table, id).flatMap { key($0, id, delivered) }
    }

    /// Applies own writes that `start` lacks to the shown rows. Each written row is moved from where it was shown
    /// before.
    func catchUp(_ start: ShownTree, _ connection: LiveConnection) throws(StoreError) -> ShownTree {
        let changes = connection.own.changes
        var next = start
        var tree = start.rows.tree
        let new = changes[start.applied...]
        let ids =
            plan.tree.needsReach
            ? try connection.dependants(plan.tree, table, new) { next.overlay[$0] != nil }
            : new.compactMap { $0.table == table.id ? ObjectID(rawValue: $0.id) : nil }
        let undo = connection.transaction == nil ? nil : openUndo(start, connection)
        for id in ids {
            undo?.keys.append((id, next.overlay[id]))
            let old =
                next.overlay[id]
                ?? connection.deliveredRow(table, id).flatMap { key($0, id, connection.delivered) }
            let new = connection.currentRow(table, id).flatMap { key($0, id, connection.currentSource) }
            next.overlay[id] = .some(new)
            form.apply(
                removals: old.map { $0 == new ? [] : [$0] } ?? [],
                insertions: new.map { [RankedEntry(key: $0, stamp: .max)] } ?? [], to: &tree)
        }
        try connection.checkReads()
        next.rows = tree.slice(window)
        next.applied = changes.count
        connection.own.noteUsed()
        return next
    }

    /// Returns the undo record of the write in progress, making it if there is none.
    private func openUndo(_ start: ShownTree, _ connection: LiveConnection) -> ShownUndo {
        if let undo, undo.write == connection.rowEpoch { return undo }
        let new = ShownUndo(start, write: connection.rowEpoch)
        undo = new
        return new
    }
}

extension Connection {
    /// Returns rows of a query's table whose membership or position own changes may affect: written rows, and rows that
    /// lead to a written one.
    /// - Parameter isOwn: whether earlier own changes, since the last delivery, have affected a row.
    func dependants(
        _ key: TreeKey, _ table: Table, _ changes: ArraySlice<LogEntry>, isOwn: (ObjectID) -> Bool
    ) throws(StoreError) -> [ObjectID] {
        var found: [ObjectID] = []
        var known: Set<ObjectID> = []
        // Stored once, before rows are read: storing the open row invalidates rows read earlier.
        try transaction?.closeRow()
        for change in changes where change.table == table.id {
            let id = ObjectID(rawValue: change.id)
            if known.insert(id).inserted { found.append(id) }
        }
        guard let source = currentSource else { return found }
        key.forEachUse(table.links, core.storage.tablesByID) { way, _ in
            let written = changes.filter { $0.table == way[way.count - 1].target }.map { ObjectID(rawValue: $0.id) }
            if written.isEmpty { return }
            // A row that another connection has inserted is shown only after its delivery. A row that this connection
            // has inserted is shown at once.
            for id in Dependencies.roots(written, way, in: source).sorted()
            where (deliveredRow(table, id) != nil || isOwn(id)) && known.insert(id).inserted {
                found.append(id)
            }
        }
        return found
    }
}
