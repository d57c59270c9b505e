// Rows of a file before a migration, read in a separate transaction, so that a row can be read in its old state after
// any number of changes. Used on the opening thread, which holds the write lock.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

final class OldRows: LargeValueSource {
    private let path: String
    private var transaction: LMDBTransaction?
    private var tables: [UInt32: MDB_dbi] = [:]
    /// The table of large values, or nil in a new file.
    private var values: MDB_dbi?
    private var found: EngineFailure?
    var failure: StoreError? { found.map { $0.error("read large value", path: path) { _ in nil } } }

    /// Has to be called before the write transaction begins. LMDB lets one transaction at a time open tables, and a
    /// transaction can read only tables that were open when it began.
    init(_ environment: OpaquePointer, path: String) throws {
        self.path = path
        try begin(environment)
        var meta: MDB_dbi = 0
        let code = engine_open_table(transaction, "meta", 0, &meta)
        if code == MDB_NOTFOUND { return }
        try LMDB.check(code, "open table meta", path: path)
        let stored = try StoreSchema.read(transaction!, meta, path: path)
        for table in stored?.tables ?? [] {
            var rows: MDB_dbi = 0
            let code = engine_open_table(transaction, EngineName.rows(table.id), UInt32(MDB_INTEGERKEY), &rows)
            try LMDB.check(code, "open table rows.\(table.id)", path: path)
            tables[table.id] = rows
        }
        if stored != nil {
            var values: MDB_dbi = 0
            let code = engine_open_table(transaction, EngineName.values, UInt32(MDB_INTEGERKEY), &values)
            try LMDB.check(code, "open table \(EngineName.values)", path: path)
            self.values = values
        }
        // Committing the transaction keeps the tables open.
        let ended = transaction
        transaction = nil
        try LMDB.check(engine_commit(ended), "open tables", path: path)
        try begin(environment)
    }

    private func begin(_ environment: OpaquePointer) throws(StoreError) {
        try LMDB.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "begin snapshot", path: path)
    }

    deinit { if let transaction { mdb_txn_abort(transaction) } }

    func scan(_ table: UInt32, _ body: (UInt64, RowReader) -> Void) throws(StoreError) {
        guard let transaction, let rows = tables[table] else { return }
        try LMDB.reading("read old rows", path: path) { () throws(EngineFailure) in
            try LMDB.scan(transaction, rows) { (id, bytes) throws(EngineFailure) in
                try RowReader.check(bytes, table, id)
                body(id, RowReader(bytes, unretained))
                return true
            }
        }
    }

    /// Old row of an object, or nil if there was none.
    func row(_ table: UInt32, _ id: UInt64) throws(StoreError) -> [UInt8]? {
        guard let transaction, let rows = tables[table] else { return nil }
        return try LMDB.reading("read old row", path: path) { () throws(EngineFailure) in
            try LMDB.get(transaction, rows, id: id).map { (bytes) throws(EngineFailure) in
                try RowReader.check(bytes, table, id)
                return Array(bytes)
            }
        }
    }

    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        do throws(EngineFailure) {
            guard let transaction, let values, let found = try LMDB.get(transaction, values, id: number),
                LargeValue(number: number, sum: sum, byteCount: byteCount).isWhole(found)
            else { throw EngineFailure.damagedValue(number) }
            return found
        } catch {
            self.found = self.found ?? error
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Throws if a large value could not be read.
    func checkValues() throws(EngineFailure) { if let found { throw found } }
}
