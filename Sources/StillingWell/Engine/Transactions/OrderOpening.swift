// Opens the orders of lists when a store is opened, and builds missing ones from the rows of the elements. Runs within
// the transaction that opens the tables, on the opening thread.
import CStillingWellEngine
import CStillingWellLMDB

extension TableLinks {
    /// Opens the order of the lists whose elements a table has, and builds it if it is missing.
    static func openOrder(
        _ transaction: LMDBTransaction, _ elements: Table, _ storage: Storage
    ) throws -> ListOrder {
        let name = EngineName.ranks(elements.id)
        var handle: MDB_dbi = 0
        var code = engine_open_table(transaction, name, 0, &handle)
        let isNew = code == MDB_NOTFOUND
        if isNew { code = engine_open_table(transaction, name, UInt32(MDB_CREATE), &handle) }
        try storage.check(code, "open \(name)")
        let order = ListOrder(table: elements.id, handle: handle, rows: elements.rows)
        if isNew { try build(transaction, order, elements, storage) }
        return order
    }

    private static func build(
        _ transaction: LMDBTransaction, _ order: ListOrder, _ table: Table, _ storage: Storage
    ) throws {
        var elements: [RankBuilding.Element] = []
        try storage.reading("order lists") { () throws(EngineFailure) in
            try LMDB.scan(transaction, table.rows) { (id, row) throws(EngineFailure) in
                try RowReader.check(row, table.id, id)
                elements.append(RankBuilding.Element(RowReader(row), id))
                return true
            }
        }
        try RankBuilding.build(elements) { (key, entries) throws(StoreError) in
            let writer = RankWriter(order: order, owner: key.owner, transaction: transaction, storage: storage)
            try writer.put(key.number, entries)
        }
    }
}
