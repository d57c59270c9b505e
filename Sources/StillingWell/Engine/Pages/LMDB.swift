// LMDB's C interface as Swift values and errors.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellTree

typealias LMDBTransaction = OpaquePointer
typealias LMDBCursor = OpaquePointer

enum LMDB {
    /// Maximum number of read transactions of one environment, over all processes.
    static let maxReaders: UInt32 = 1_024
    /// Maximum number of named tables of one environment.
    static let maxTables: UInt32 = 512

    /// Makes an environment that is not open yet. Each of its transactions, and its close, take time in proportion to
    /// `tables`: 16,000 instructions at `maxTables`.
    static func makeEnvironment(
        mapBytes: Int, path: String, tables: UInt32 = maxTables
    ) throws(StoreError) -> OpaquePointer {
        var environment: OpaquePointer?
        try check(mdb_env_create(&environment), "create", path: path)
        do throws(StoreError) {
            try check(engine_guard(environment), "create", path: path)
            try check(mdb_env_set_mapsize(environment, mapBytes), "set map size", path: path)
            try check(mdb_env_set_maxreaders(environment, maxReaders), "set readers", path: path)
            try check(mdb_env_set_maxdbs(environment, tables), "set tables", path: path)
        } catch {
            engine_close(environment)
            throw error
        }
        return environment!
    }

    /// Throws the error of `code`, unless it is success.
    @inline(__always)
    static func check(_ code: Int32, _ operation: @autoclosure () -> String, path: String) throws(StoreError) {
        if code != 0 { throw error(code, operation(), path: path) }
    }

    static func error(_ code: Int32, _ operation: String, path: String) -> StoreError {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
        case MDB_DBS_FULL: .tooManyTables(limit: Int(maxTables))
        case MDB_READERS_FULL: .tooManySnapshots(limit: Int(maxReaders))
        case MDB_INVALID, MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_VERSION_MISMATCH:
            .storage(
                operation: operation, code: code,
                reason: "the store at \(path) is damaged (\(message(code))); restore it from a backup")
        case MDB_PANIC:
            .storage(
                operation: operation, code: code,
                reason: "an earlier failure at \(path); close the store and open it again")
        case Int32(ENGINE_FREE_PAGES):
            .storage(
                operation: operation, code: MDB_CORRUPTED,
                reason: """
                    the list of free pages of the store at \(path) is damaged: it names pages that are in use, or none of the \
                    file, and a write would destroy them; restore it from a backup, or write what is whole to a new one with \
                    Store.salvage
                    """)
        case MDB_BAD_TXN:
            // LMDB does not report some failures, and refuses all later calls of the transaction.
            .storage(
                operation: operation, code: code,
                reason: """
                    an earlier failure at \(path); close the store and open it again, and if that does not help, restore it \
                    from a backup
                    """)
        default: .storage(operation: operation, code: code, reason: "\(message(code)), at \(path)")
        }
    }

    private static func message(_ code: Int32) -> String { String(cString: mdb_strerror(code)) }

    /// Number of a transaction. Never traps, whatever a damaged header holds.
    static func number(of transaction: LMDBTransaction?) -> UInt64 {
        UInt64(truncatingIfNeeded: mdb_txn_id(transaction))
    }

    /// Runs reads and turns an engine failure into an error of the store at `path`.
    static func reading<Result>(
        _ operation: String, path: String, _ body: () throws(EngineFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(EngineFailure) { return try body() } catch { throw error.error(operation, path: path) { _ in nil } }
    }

    /// Returns whether a read found an entry.
    /// - Throws: an `EngineFailure` for every code except success and "not found".
    @inline(__always)
    static func found(_ code: Int32) throws(EngineFailure) -> Bool {
        if code == MDB_SUCCESS { return true }
        if code == MDB_NOTFOUND { return false }
        throw EngineFailure(code: code)
    }

    @inline(__always)
    private static func require(_ code: Int32) throws(EngineFailure) {
        if code != MDB_SUCCESS { throw EngineFailure(code: code) }
    }

    /// Runs `body` with a number as an LMDB value.
    @inline(__always)
    static func withNumber<Result>(_ number: UInt64, _ body: (inout MDB_val) -> Result) -> Result {
        var number = number
        return withUnsafeMutablePointer(to: &number) { pointer in
            var value = MDB_val(mv_size: 8, mv_data: pointer)
            return body(&value)
        }
    }

    /// Runs `body` with a key of bytes and a number as its value.
    @inline(__always)
    static func withEntry<Result>(
        _ key: UnsafeRawBufferPointer, _ id: UInt64, _ body: (inout MDB_val, inout MDB_val) -> Result
    ) -> Result {
        withNumber(id) { value in
            var key = MDB_val(key)
            return body(&key, &value)
        }
    }

    /// Stores a value under an integer key.
    /// - Returns: LMDB's code.
    static func put(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64, _ value: UnsafeRawBufferPointer,
        _ flags: Int32 = 0
    ) -> Int32 {
        withNumber(id) { key in
            var value = MDB_val(value)
            return engine_put(transaction, table, &key, &value, UInt32(flags))
        }
    }

    /// Value under an integer key, or nil if there is none. Valid until the transaction changes something.
    @inline(__always)
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64
    ) throws(EngineFailure) -> UnsafeRawBufferPointer? {
        var value = MDB_val()
        if try found(withNumber(id) { engine_get(transaction, table, &$0, &value) }) { return value.bytes }
        try RangeCheck.require(transaction, table, id...id)
        return nil
    }

    /// Value under a byte key, or nil if there is none.
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, key bytes: UnsafeRawBufferPointer
    ) throws(EngineFailure) -> UnsafeRawBufferPointer? {
        var key = MDB_val(bytes)
        var value = MDB_val()
        if try found(engine_get(transaction, table, &key, &value)) { return value.bytes }
        try RangeCheck.require(transaction, table, engine_range(keys: MDB_val(bytes), MDB_val(bytes)))
        return nil
    }

    /// Last integer key of a table, or nil if the table is empty.
    static func lastID(_ transaction: LMDBTransaction, _ table: MDB_dbi) throws(EngineFailure) -> UInt64? {
        try edgeID(transaction, table, MDB_LAST)
    }

    static func firstID(_ transaction: LMDBTransaction, _ table: MDB_dbi) throws(EngineFailure) -> UInt64? {
        try edgeID(transaction, table, MDB_FIRST)
    }

    private static func edgeID(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, _ edge: MDB_cursor_op
    ) throws(EngineFailure) -> UInt64? {
        let cursor = try openCursor(transaction, table)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        guard try found(engine_cursor_get(cursor, &key, &value, edge)) else { return nil }
        return key.number
    }

    static func beginReading(_ environment: OpaquePointer) throws(EngineFailure) -> LMDBTransaction {
        var transaction: LMDBTransaction?
        try require(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        return transaction!
    }

    /// Begins a read transaction at the newest version. Begins again if a commit or another wake-up was announced
    /// meanwhile (`bellCount`).
    /// - Parameter known: a reset transaction to be renewed.
    static func beginReading(
        _ environment: OpaquePointer, again known: LMDBTransaction? = nil, at page: SharedPage
    ) throws(EngineFailure) -> LMDBTransaction {
        var transaction = known
        while true {
            let before = page.bellCount
            let code =
                transaction == nil
                ? mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) : mdb_txn_renew(transaction)
            guard code == 0, let transaction else { throw EngineFailure(code: code) }
            if page.bellCount == before { return transaction }
            mdb_txn_reset(transaction)
        }
    }

    static func openCursor(_ transaction: LMDBTransaction, _ table: MDB_dbi) throws(EngineFailure) -> LMDBCursor {
        var cursor: LMDBCursor?
        try require(engine_cursor_open(transaction, table, &cursor))
        return cursor!
    }

    /// Number of entries of a table.
    static func count(_ transaction: LMDBTransaction, _ table: MDB_dbi) throws(EngineFailure) -> Int {
        var statistics = MDB_stat()
        try require(engine_stat(transaction, table, &statistics))
        // `mdb_stat` ignores a failure to find the table's root and marks the transaction. The second call reports it.
        try require(engine_stat(transaction, table, &statistics))
        return Int(statistics.ms_entries)
    }

    /// Visits rows in ascending order of ids, from `first` on, until `body` returns false.
    /// - Parameter isChecked: whether the visited pages are checked at the end (`RangeCheck`).
    static func scan(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, from first: UInt64 = 0, isChecked: Bool = true,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(EngineFailure) -> Bool
    ) throws(EngineFailure) {
        let cursor = try openCursor(transaction, table)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        // LMDB replaces the key that it is given by its own.
        var code = withNumber(first) { start in
            let code = engine_cursor_get(cursor, &start, &value, MDB_SET_RANGE)
            key = start
            return code
        }
        var lowest = first
        while code == MDB_SUCCESS {
            let id = key.number
            // A page that two entries lead to can make the scan endless. Ids that do not ascend are damage.
            if id < lowest { throw EngineFailure(code: MDB_CORRUPTED) }
            guard try body(id, value.bytes) else {
                return isChecked ? try RangeCheck.require(transaction, table, first...id) : ()
            }
            (lowest, code) = (id &+ 1, engine_cursor_get(cursor, &key, &value, MDB_NEXT))
            if lowest == 0, code == MDB_SUCCESS { throw EngineFailure(code: MDB_CORRUPTED) }
        }
        _ = try found(code)
        if isChecked { try RangeCheck.require(transaction, table, first...(.max)) }
    }

    /// Visits rows in descending order of ids until `body` returns false.
    static func scanBack(
        _ transaction: LMDBTransaction, _ table: MDB_dbi,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(EngineFailure) -> Bool
    ) throws(EngineFailure) {
        let cursor = try openCursor(transaction, table)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        var isFound = try found(engine_cursor_get(cursor, &key, &value, MDB_LAST))
        while isFound {
            let id = key.number
            guard try body(id, value.bytes) else { return try RangeCheck.require(transaction, table, id...(.max)) }
            isFound = try found(engine_cursor_get(cursor, &key, &value, MDB_PREV))
            if isFound, key.number >= id { throw EngineFailure(code: MDB_CORRUPTED) }
        }
        try RangeCheck.require(transaction, table, 0...(.max))
    }

    /// LMDB's table of free pages: by transaction, the number of pages that it freed, and their page numbers.
    static let freePages: MDB_dbi = 0
    /// LMDB's table of named tables.
    static let tables: MDB_dbi = 1

    /// Visits the pages listed in an entry of the table of free pages.
    static func forEachPage(
        in entry: UnsafeRawBufferPointer, _ body: (UInt64) -> Void
    ) throws(EngineFailure) {
        guard entry.count >= 8, case let count = entry.loadUnaligned(as: Int.self), count >= 0,
            count <= entry.count / 8 - 1
        else { throw EngineFailure(code: MDB_CORRUPTED) }
        for index in 1..<count + 1 { body(entry.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
    }

    /// Visits rows as `scan` does, in runs of 1 to 64 rows that double in length. Does not check the rows' checksums.
    static func scanRuns(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, from first: UInt64,
        _ body: (UnsafeBufferPointer<ScannedRow>) throws(EngineFailure) -> Bool
    ) throws(EngineFailure) {
        var rows: [ScannedRow] = []
        var (most, isOver) = (1, false)
        try scan(transaction, table, from: first) { (id, row) throws(EngineFailure) in
            rows.append(ScannedRow(id: ObjectID(rawValue: id), RowReader(row)))
            if rows.count < most { return true }
            isOver = !(try rows.withUnsafeBufferPointer(body))
            rows.removeAll(keepingCapacity: true)
            most = min(2 * most, 64)
            return !isOver
        }
        if !isOver, !rows.isEmpty { _ = try rows.withUnsafeBufferPointer(body) }
    }
}

/// Conversions of LMDB's keys and values. LMDB only reads the bytes that it is given.
extension MDB_val {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
    var number: UInt64 { mv_data.loadUnaligned(as: UInt64.self) }
}

/// A read that uses a transaction.
typealias EngineRead<Result> = (LMDBTransaction) throws(EngineFailure) -> Result
