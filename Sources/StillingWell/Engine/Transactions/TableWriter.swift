// What a write keeps of one table while it lasts: where it stands in the rows and in the keys, and which ids it has given
// out. Belongs to the write transaction, on the thread that holds the write lock.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

final class TableWriter {
    let table: Table
    private let storage: Storage
    @exclusivity(unchecked) private var rows: LMDBCursor?
    @exclusivity(unchecked) private var keys: LMDBCursor?
    /// Whether all keys added so far came behind those there were: then the next one is tried there first.
    private var keysAscend = true
    /// The id of the next new row; nil until one was asked for.
    private(set) var nextID: UInt64?
    /// The first id that was given out.
    private(set) var firstNewID: UInt64?

    init(_ table: Table, _ storage: Storage) {
        self.table = table
        self.storage = storage
    }

    /// The next object id; the counter is stored at commit, so that ids are never used twice.
    func takeID(_ transaction: LMDBTransaction) throws(StoreError) -> UInt64 {
        let id: UInt64
        if let nextID {
            id = nextID
        } else {
            id = try storage.reading("read counter") { () throws(EngineFailure) in
                try RowCounter.next(table.id, transaction, storage.meta)
            }
            firstNewID = id
        }
        nextID = id + 1
        return id
    }

    /// Goes back to where the counter stood; nil reads it again.
    func takeBackIDs(to next: UInt64?) { nextID = next }

    /// Stores the counter, if ids were given out.
    func storeCounter(_ transaction: LMDBTransaction) throws(StoreError) {
        guard let nextID else { return }
        try storage.check(RowCounter.store(table.id, nextID, transaction, storage.meta), "store counter")
    }

    func store(_ row: RowBuffer, _ id: ObjectID, isNew: Bool, _ transaction: LMDBTransaction) throws(StoreError) {
        row.seal(table.id, id.rawValue)
        if rows == nil { try storage.check(engine_cursor_open(transaction, table.rows, &rows), "open cursor") }
        let bytes = row.sealedBytes
        try storage.reserve(bytes.count)
        // The engine tells where the row is to be, so that it is known how far the file is used.
        let flags = UInt32(MDB_RESERVE | (isNew ? MDB_APPEND : 0))
        var value = MDB_val(mv_size: bytes.count, mv_data: nil)
        let code = LMDB.withNumber(id.rawValue) { engine_cursor_put(rows, &$0, &value, flags) }
        try storage.check(code, "store row")
        value.mv_data.copyMemory(from: row.base, byteCount: bytes.count)
        table.checked.insert(id.rawValue)
        if storage.durability == .memory { try storage.stored(at: UnsafeRawPointer(value.mv_data)) }
    }

    /// Adds a primary key.
    /// - Returns: the engine's code; `MDB_KEYEXIST` where the key is there already.
    func addKey(
        _ bytes: UnsafeRawBufferPointer, _ index: MDB_dbi, _ id: ObjectID, _ transaction: LMDBTransaction
    ) -> Int32 {
        if keys == nil {
            let code = engine_cursor_open(transaction, index, &keys)
            if code != 0 { return code }
        }
        return IDEntry.with(bytes, id.rawValue, table.id, nil) { key, value in
            if keysAscend {
                let code = engine_cursor_put(keys, &key, &value, UInt32(MDB_APPEND | MDB_NOOVERWRITE))
                if code != MDB_KEYEXIST { return code }
                keysAscend = false
            }
            return engine_cursor_put(keys, &key, &value, UInt32(MDB_NOOVERWRITE))
        }
    }

    /// Must happen before the transaction ends that they are of.
    func closeCursors() {
        if let rows { mdb_cursor_close(rows) }
        if let keys { mdb_cursor_close(keys) }
        (rows, keys) = (nil, nil)
    }
}
