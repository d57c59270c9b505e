// State of one table during a write: cursors for rows and keys, and the ids given out. Owned by the write transaction,
// and used by one thread at a time while the write lock is held.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

final class TableWriter {
    let table: Table
    private let storage: Storage
    @exclusivity(unchecked) private var rows: LMDBCursor?
    @exclusivity(unchecked) private var keys: LMDBCursor?
    /// Whether all keys added so far were greater than the existing ones. If so, appending is tried first.
    private var keysAscend = true
    /// Id of the next new row; nil until the counter was read.
    private(set) var nextID: UInt64?
    /// First id that this write gave out.
    private(set) var firstNewID: UInt64?
    /// Id of the row that was stored last.
    private var lastID = UInt64.max

    init(_ table: Table, _ storage: Storage) {
        self.table = table
        self.storage = storage
    }

    /// Takes the next object id. The counter is stored at commit, so that no two commits give out the same id.
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

    /// Resets the counter to an earlier value; nil makes the next `takeID` read it again.
    func takeBackIDs(to next: UInt64?) { nextID = next }

    /// Stores the counter, if ids were given out.
    func storeCounter(_ transaction: LMDBTransaction) throws(StoreError) {
        guard let nextID else { return }
        try storage.check(RowCounter.store(table.id, nextID, transaction, storage.meta), "store counter")
    }

    /// Whether `row` finds a row faster than a search from the root: one shortly after the row that was stored last.
    func isNear(_ id: ObjectID) -> Bool { id.rawValue > lastID && id.rawValue - lastID <= 64 }

    /// Stored bytes of a row, or nil if there is none. Searches from the place of the cursor for rows.
    func row(
        _ id: UInt64, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> UnsafeRawBufferPointer? {
        guard let rows else { return try LMDB.get(transaction, table.rows, id: id) }
        var value = MDB_val()
        if try LMDB.found(LMDB.withNumber(id) { engine_cursor_get(rows, &$0, &value, MDB_SET) }) { return value.bytes }
        try RangeCheck.require(transaction, table.rows, id...id)
        return nil
    }

    func store(_ row: RowBuffer, _ id: ObjectID, isNew: Bool, _ transaction: LMDBTransaction) throws(StoreError) {
        row.seal(table.id, id.rawValue)
        if rows == nil { try storage.check(engine_cursor_open(transaction, table.rows, &rows), "open cursor") }
        let bytes = row.sealedBytes
        try storage.reserve(bytes.count)
        // MDB_RESERVE returns the address of the row, which shows how far the file is used.
        let flags = UInt32(MDB_RESERVE | (isNew ? MDB_APPEND : 0))
        var value = MDB_val(mv_size: bytes.count, mv_data: nil)
        let code = LMDB.withNumber(id.rawValue) { engine_cursor_put(rows, &$0, &value, flags) }
        try storage.check(code, "store row")
        lastID = id.rawValue
        value.mv_data.copyMemory(from: row.base, byteCount: bytes.count)
        table.checked.insert(id.rawValue)
        if storage.durability == .memory { try storage.stored(at: UnsafeRawPointer(value.mv_data)) }
    }

    /// Adds a primary key.
    /// - Returns: LMDB's code; `MDB_KEYEXIST` if the key exists.
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

    /// Closes the cursors. Has to be called before their transaction ends.
    func closeCursors() {
        if let rows { mdb_cursor_close(rows) }
        if let keys { mdb_cursor_close(keys) }
        (rows, keys) = (nil, nil)
    }
}
