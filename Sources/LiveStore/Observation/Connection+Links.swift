// The connection's own writes, as far as other rows than the written ones show them: those that a filter over links
// takes in or leaves out, and those that an order over links moves.

extension Connection {
    /// The rows of a query's table that own changes may have brought in or taken out: those written, and those that
    /// lead to a written one.
    /// - Parameter isOwn: whether the connection has written a row itself before these changes, since its last delivery.
    func dependants(
        _ key: TreeKey, _ table: Table, _ changes: ArraySlice<LogEntry>, isOwn: (ObjectID) -> Bool
    ) throws(StoreError) -> [ObjectID] {
        var found: [ObjectID] = []
        var known: Set<ObjectID> = []
        // Once, before rows are read: storing a row makes what was read before worthless.
        try transaction?.closeRow()
        for change in changes where change.table == table.id {
            let id = ObjectID(rawValue: change.id)
            if known.insert(id).inserted { found.append(id) }
        }
        guard let source = currentSource else { return found }
        key.forEachUse(table.links, core.storage.tablesByID) { way, _ in
            let written = changes.filter { $0.table == way[way.count - 1].target }.map { ObjectID(rawValue: $0.id) }
            if written.isEmpty { return }
            // A row that somebody else has committed is not shown before its delivery. One of an own commit is, whether or
            // not the delivered version has it.
            for id in Dependencies.roots(written, way, in: source).sorted()
            where (deliveredRow(table, id) != nil || isOwn(id)) && known.insert(id).inserted {
                found.append(id)
            }
        }
        return found
    }
}
