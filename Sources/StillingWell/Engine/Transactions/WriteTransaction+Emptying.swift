// Deleting all rows of a table.
import CStillingWellLMDB

extension WriteTransaction {
    /// Deletes all rows of a table. O(rows), and O(log n) for each large value, if no row of another table refers to
    /// them and the table has no list properties; otherwise as `delete` for each.
    func deleteAll(_ table: Table) throws(StoreError) {
        var ids: [ObjectID] = []
        var values: [UInt64] = []
        scan(table) { id, row, _ in
            ids.append(id)
            if row.largeColumns != 0 { values += row.largeValues.lazy.map(\.number) }
            return true
        }
        try checkReads()
        if ids.isEmpty { return }
        guard try standsAlone(table) else {
            for id in ids { try delete(table, id) }
            return
        }
        try empty(table, ids)
        try step { () throws(StoreError) in try storage.deleteValues(values, transaction) }
    }

    /// Whether deleting all rows of a table surely changes no other rows. False for a table with list properties.
    private func standsAlone(_ table: Table) throws(StoreError) -> Bool {
        guard let links = table.links else { return true }
        guard links.lists.isEmpty, links.order == nil else { return false }
        for edge in links.incoming where !(edge.source == table.id && edge.elements == nil) {
            let count = try storage.reading("count links") { () throws(EngineFailure) in
                try LMDB.count(transaction, edge.index.handle)
            }
            if count > 0 { return false }
        }
        return true
    }
}
