// LMDB's C face turned into Swift values and errors. Nothing here knows what is stored.
import CLMDB
import Glibc

typealias LMDBTransaction = OpaquePointer
typealias LMDBCursor = OpaquePointer

enum LMDB {
    /// Throws the error that `code` stands for, unless it is success.
    @inline(__always)
    static func check(_ code: Int32, _ operation: @autoclosure () -> String, path: String) throws(StoreError) {
        if code != 0 { throw error(code, operation(), path: path) }
    }

    static func error(_ code: Int32, _ operation: String, path: String) -> StoreError {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
        case MDB_DBS_FULL: .tooManyTables(limit: Int(Storage.maxTables))
        case MDB_READERS_FULL: .tooManySnapshots(limit: Int(Storage.maxReaders))
        case MDB_INVALID, MDB_CORRUPTED, MDB_VERSION_MISMATCH:
            .cannotOpen(path: path, reason: "\(String(cString: mdb_strerror(code))); restore it from a backup")
        case MDB_PANIC:
            .storage(operation: operation, code: code, reason: "an earlier failure; close the store and open it again")
        default: .storage(operation: operation, code: code, reason: String(cString: mdb_strerror(code)))
        }
    }

    /// The value under an integer key, valid as long as the transaction sees no change; nil when there is none.
    @inline(__always)
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64
    ) -> UnsafeRawBufferPointer? {
        var id = id
        return withUnsafeMutablePointer(to: &id) { pointer in
            var key = MDB_val(mv_size: 8, mv_data: pointer)
            var value = MDB_val()
            guard mdb_get(transaction, table, &key, &value) == 0 else { return nil }
            return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }
    }

    /// As `get`, with a failure told apart from a value that is not there.
    static func read(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64, path: String
    ) throws(StoreError) -> UnsafeRawBufferPointer? {
        var id = id
        var value = MDB_val()
        let code = withUnsafeMutablePointer(to: &id) { pointer in
            var key = MDB_val(mv_size: 8, mv_data: pointer)
            return mdb_get(transaction, table, &key, &value)
        }
        if code == MDB_NOTFOUND { return nil }
        try check(code, "read object", path: path)
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    /// The value under a byte key; nil when there is none.
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, key bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        var key = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        var value = MDB_val()
        guard mdb_get(transaction, table, &key, &value) == 0 else { return nil }
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    /// The last integer key of a table; nil when the table is empty.
    static func lastID(_ transaction: LMDBTransaction, _ table: MDB_dbi) -> UInt64? {
        edgeID(transaction, table, MDB_LAST)
    }

    static func firstID(_ transaction: LMDBTransaction, _ table: MDB_dbi) -> UInt64? {
        edgeID(transaction, table, MDB_FIRST)
    }

    private static func edgeID(_ transaction: LMDBTransaction, _ table: MDB_dbi, _ edge: MDB_cursor_op) -> UInt64? {
        var cursor: LMDBCursor?
        guard mdb_cursor_open(transaction, table, &cursor) == 0 else { return nil }
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        guard mdb_cursor_get(cursor, &key, &value, edge) == 0 else { return nil }
        return key.mv_data.loadUnaligned(as: UInt64.self)
    }

    /// Visits rows in order of their ids, from `first` on, until `body` returns false.
    static func scan(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, from first: UInt64 = 0,
        _ body: (UInt64, UnsafeRawBufferPointer) -> Bool
    ) {
        var cursor: LMDBCursor?
        guard mdb_cursor_open(transaction, table, &cursor) == 0 else { return }
        defer { mdb_cursor_close(cursor) }
        var id = first
        withUnsafeMutablePointer(to: &id) { pointer in
            var key = MDB_val(mv_size: 8, mv_data: pointer)
            var value = MDB_val()
            var found = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
            while found == 0 {
                let row = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
                guard body(key.mv_data.loadUnaligned(as: UInt64.self), row) else { return }
                found = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
        }
    }
}
