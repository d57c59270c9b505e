// Access to LMDB while tables are opened and migrated: handles, rows and primary keys, within a transaction that its
// caller ends. Used on the opening thread, which holds the write lock unless nothing may be changed.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

struct MigrationEngine {
    let transaction: LMDBTransaction
    let storage: Storage
    /// Rows before the migration; nil without a migration block.
    let old: OldRows?
    /// Large values in the transaction.
    let values: TransactionValues

    init(transaction: LMDBTransaction, storage: Storage, old: OldRows?) {
        (self.transaction, self.storage, self.old) = (transaction, storage, old)
        values = TransactionValues(storage, transaction)
    }

    func openValues(mayMake: Bool) throws(StoreError) {
        storage.values = try storage.openTable(transaction, EngineName.values, MDB_INTEGERKEY, mayMake: mayMake)
    }

    /// Throws if a large value could not be read.
    func checkValues() throws(StoreError) {
        try storage.reading("read large value") { () throws(EngineFailure) in
            try values.check()
            try old?.checkValues()
        }
    }

    private func rows(_ table: UInt32, mayMake: Bool = true) throws(StoreError) -> MDB_dbi {
        try storage.openTable(transaction, EngineName.rows(table), MDB_INTEGERKEY, mayMake: mayMake)
    }

    private func keys(_ table: UInt32, mayMake: Bool = true) throws(StoreError) -> MDB_dbi {
        try storage.openTable(transaction, EngineName.keys(table), 0, mayMake: mayMake)
    }

    /// - Parameter stored: the table in the file; nil for a new one.
    func open(_ schema: TableSchema, _ layout: TableLayout, stored: TableSchema?) throws(StoreError) -> Table {
        Table(
            schema: schema, layout: layout, rows: try rows(schema.id, mayMake: stored == nil),
            primaryIndex: schema.primaryKey == nil
                ? nil : try keys(schema.id, mayMake: stored?.primaryKey == nil),
            checked: CheckedRows(storage.checkedVersions))
    }

    /// Visits the rows in order of ids. `body` may change the row it is given.
    func forEachRow(_ table: UInt32, _ body: (UInt64, [UInt8]) throws -> Void) throws {
        let rows = try rows(table)
        var next: UInt64 = 0
        while true {
            var found: (id: UInt64, bytes: [UInt8])?
            try storage.reading("read row") { () throws(EngineFailure) in
                try LMDB.scan(transaction, rows, from: next) { (id, bytes) throws(EngineFailure) in
                    try RowReader.check(bytes, table, id)
                    found = (id, Array(bytes))
                    return false
                }
            }
            guard let found else { return }
            try body(found.id, found.bytes)
            if found.id == .max { return }
            next = found.id + 1
        }
    }

    /// Gives rows from before new properties the properties' initial values.
    /// - Returns: whether there were such properties.
    func fill(_ change: SchemaChange) throws -> Bool {
        for (table, new) in change.newColumns {
            try forEachRow(table) { id, bytes in
                if let row = new.filled(bytes, values.unretained) { try put(new.table, id, row) }
            }
        }
        return !change.newColumns.isEmpty
    }

    func row(_ table: UInt32, _ id: UInt64) throws(StoreError) -> [UInt8]? {
        let rows = try rows(table)
        return try storage.reading("read row") { () throws(EngineFailure) in
            try LMDB.get(transaction, rows, id: id).map { (bytes) throws(EngineFailure) in
                try RowReader.check(bytes, table, id)
                return Array(bytes)
            }
        }
    }

    func scan(_ table: UInt32, _ body: (UInt64, RowReader) -> Void) throws(StoreError) {
        let rows = try rows(table)
        try storage.reading("read rows") { () throws(EngineFailure) in
            try LMDB.scan(transaction, rows) { (id, bytes) throws(EngineFailure) in
                try RowReader.check(bytes, table, id)
                body(id, RowReader(bytes, values.unretained))
                return true
            }
        }
    }

    func delete(_ table: UInt32, _ id: UInt64) throws(StoreError) {
        let rows = try rows(table)
        let numbers = try largeValues(rows, id)
        let code = LMDB.withNumber(id) { engine_del(transaction, rows, &$0, nil) }
        if code != MDB_NOTFOUND { try storage.check(code, "delete row") }
        try storage.deleteValues(numbers, transaction)
    }

    /// Numbers of the large values of a stored row.
    private func largeValues(_ rows: MDB_dbi, _ id: UInt64) throws(StoreError) -> [UInt64] {
        try storage.reading("read row") { () throws(EngineFailure) in
            try LMDB.get(transaction, rows, id: id).map { RowReader($0).largeValues.map(\.number) } ?? []
        }
    }

    /// Id of the next new row.
    func nextNumber(_ table: UInt32) throws(StoreError) -> UInt64 {
        try storage.reading("read counter") { () throws(EngineFailure) in
            try RowCounter.next(table, transaction, storage.meta)
        }
    }

    func storeNextNumber(_ table: UInt32, _ next: UInt64) throws(StoreError) {
        try storage.check(RowCounter.store(table, next, transaction, storage.meta), "store counter")
    }

    /// Stores a row, and its large values in their own table.
    func put(_ table: TableSchema, _ id: UInt64, _ row: RowBuffer) throws(StoreError) {
        if let error = row.error(table) { throw error }
        try row.moveLarge(
            table.largeColumns, columnCount: table.columns.count, to: values.unretained
        ) { value throws(StoreError) in
            let number = try nextNumber(LargeValue.counter)
            try storeNextNumber(LargeValue.counter, number + 1)
            return try storage.put(value, number: number, transaction)
        }
        row.compact(columnCount: table.columns.count, outOfLine: table.outOfLine)
        row.seal(table.id, id)
        let rows = try rows(table.id)
        let before = try largeValues(rows, id)
        try storage.check(LMDB.put(transaction, rows, id: id, row.sealedBytes), "store row")
        let kept = row.largeValues.map(\.number)
        try storage.deleteValues(before.filter { !kept.contains($0) }, transaction)
    }

    func drop(_ table: TableSchema) throws(StoreError) {
        var numbers: [UInt64] = []
        try scan(table.id) { _, row in numbers += row.largeValues.map(\.number) }
        try storage.deleteValues(numbers, transaction)
        try storage.check(engine_drop(transaction, try rows(table.id), 1), "delete table")
        if table.primaryKey != nil { try storage.check(engine_drop(transaction, try keys(table.id), 1), "delete keys") }
        try dropIndexes(table)
    }

    /// Deletes the indexes of a table, and the orders of lists whose elements it has. Opening makes needed ones again.
    func dropIndexes(_ table: TableSchema) throws(StoreError) {
        for column in table.columns.indices { try dropIndex(table, column) }
        try drop(EngineName.ranks(table.id), 0)
    }

    func dropIndex(_ table: TableSchema, _ column: Int) throws(StoreError) {
        try drop(ColumnIndex.name(table.id, column), ColumnIndex.flags)
    }

    /// Deletes an LMDB table, if it exists.
    private func drop(_ name: String, _ flags: UInt32) throws(StoreError) {
        var handle: MDB_dbi = 0
        let code = engine_open_table(transaction, name, flags, &handle)
        if code == MDB_NOTFOUND { return }
        try storage.check(code, "open \(name)")
        try storage.check(engine_drop(transaction, handle, 1), "delete \(name)")
    }

    /// Builds the index of primary keys again from the rows.
    /// - Throws: `duplicatePrimaryKey`, `primaryKeyTooLong`, and errors of reading and storing.
    func rebuildKeys(_ table: TableSchema) throws {
        let keys = try keys(table.id)
        try storage.check(engine_drop(transaction, keys, table.primaryKey == nil ? 1 : 0), "delete keys")
        guard let column = table.primaryKey else { return }
        let type = table.columns[column].type
        try forEachRow(table.id) { id, bytes in
            try bytes.withUnsafeBytes { bytes in
                let row = RowReader(bytes)
                let code = PrimaryKey.withBytes(of: row, column, type) { bytes -> Int32 in
                    if bytes.count > PrimaryKey.maxBytes { return EMSGSIZE }
                    return IDEntry.with(bytes, id, table.id, nil) {
                        engine_put(transaction, keys, &$0, &$1, UInt32(MDB_NOOVERWRITE))
                    }
                }
                if code != 0 {
                    throw PrimaryKey.error(code, row, column, table) ?? storage.error(code, "store primary key")
                }
            }
        }
    }

    /// Builds the indexes and list orders of tables without a model, which a migration or an upgrade has deleted.
    func completeTables(_ formats: FormatRange, except opened: [UInt32: Table]) throws {
        let stored = try StoreSchema.read(transaction, storage.meta, path: storage.directory, formats)
        guard let schema = stored else { return }
        let lists = schema.listNames
        for schema in schema.tables where opened[schema.id] == nil {
            let table = try open(schema, TableLayout(nil, schema, in: LayoutSet()), stored: schema)
            _ = try TableLinks.openIndexes(transaction, table, storage)
            if lists.contains(schema.name) { _ = try TableLinks.openOrder(transaction, table, storage) }
        }
    }

    /// Gives the migrated content its own version, without listed changes: no process can have read the old content.
    func noteRewrite() throws(StoreError) {
        let last = try storage.reading("read log") { () throws(EngineFailure) in
            try LMDB.lastID(transaction, storage.log)
        }
        guard let last else { return }
        try storage.check(ChangeLog.append([], last + 1, transaction, storage.log), "store log")
    }
}
