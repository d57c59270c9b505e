// LMDB's C face turned into Swift values and errors. Nothing here knows what is stored.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellTree

typealias LMDBTransaction = OpaquePointer
typealias LMDBCursor = OpaquePointer

enum LMDB {
    /// Of one environment, by all processes.
    static let maxReaders: UInt32 = 1_024
    /// Each model takes one, and one more for its primary key; the log and the schema take two.
    static let maxTables: UInt32 = 512

    /// An environment that is not open yet. Its transactions, and its end, cost something for each table that it may open: 16 000
    /// instructions for as many as there may be.
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

    /// Throws the error that `code` stands for, unless it is success.
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
            // The engine keeps some failures to itself, and refuses what comes after them.
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

    /// The number of a transaction, whatever a header says that it is.
    static func number(of transaction: LMDBTransaction?) -> UInt64 {
        UInt64(truncatingIfNeeded: mdb_txn_id(transaction))
    }

    /// Runs reads; what the engine reports is an error of the store at `path`.
    static func reading<Result>(
        _ operation: String, path: String, _ body: () throws(EngineFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(EngineFailure) { return try body() } catch { throw error.error(operation, path: path) { _ in nil } }
    }

    /// Whether a read found something.
    /// - Throws: every code but success and "there is none": neither is an error, and no error is taken for either.
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

    /// Runs `body` with a number as the engine takes it.
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
    /// - Returns: the engine's code.
    static func put(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64, _ value: UnsafeRawBufferPointer,
        _ flags: Int32 = 0
    ) -> Int32 {
        withNumber(id) { key in
            var value = MDB_val(value)
            return engine_put(transaction, table, &key, &value, UInt32(flags))
        }
    }

    /// The value under an integer key, valid as long as the transaction sees no change; nil when there is none.
    @inline(__always)
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, id: UInt64
    ) throws(EngineFailure) -> UnsafeRawBufferPointer? {
        var value = MDB_val()
        if try found(withNumber(id) { engine_get(transaction, table, &$0, &value) }) { return value.bytes }
        try RangeCheck.require(transaction, table, id...id)
        return nil
    }

    /// The value under a byte key; nil when there is none.
    static func get(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, key bytes: UnsafeRawBufferPointer
    ) throws(EngineFailure) -> UnsafeRawBufferPointer? {
        var key = MDB_val(bytes)
        var value = MDB_val()
        if try found(engine_get(transaction, table, &key, &value)) { return value.bytes }
        try RangeCheck.require(transaction, table, engine_range(keys: MDB_val(bytes), MDB_val(bytes)))
        return nil
    }

    /// The last integer key of a table; nil when the table is empty.
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

    /// Begins to read at the newest version, as a snapshot does: a start during which the bell rang is not trusted.
    /// - Parameter known: one that holds nothing, to be used again.
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

    /// How many entries a table has.
    static func count(_ transaction: LMDBTransaction, _ table: MDB_dbi) throws(EngineFailure) -> Int {
        var statistics = MDB_stat()
        try require(engine_stat(transaction, table, &statistics))
        // What it meets where it looks for the table it keeps to itself, and refuses what comes next.
        try require(engine_stat(transaction, table, &statistics))
        return Int(statistics.ms_entries)
    }

    /// Visits rows in order of their ids, from `first` on, until `body` returns false.
    /// - Parameter isChecked: whether the pages that were gone over are checked at the end.
    static func scan(
        _ transaction: LMDBTransaction, _ table: MDB_dbi, from first: UInt64 = 0, isChecked: Bool = true,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(EngineFailure) -> Bool
    ) throws(EngineFailure) {
        let cursor = try openCursor(transaction, table)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        // The engine puts its own key in the place of the one it is given.
        var code = withNumber(first) { start in
            let code = engine_cursor_get(cursor, &start, &value, MDB_SET_RANGE)
            key = start
            return code
        }
        var lowest = first
        while code == MDB_SUCCESS {
            let id = key.number
            // A page that is led to twice, or from where another one should be, may be led to without an end.
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

    /// Visits rows in the order of their ids, the last one first, until `body` returns false.
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

    /// The engine's own table: by transaction, how many pages it has freed, and their numbers.
    static let freePages: MDB_dbi = 0
    /// The table of tables.
    static let tables: MDB_dbi = 1

    /// Visits the pages that an entry of the table of free pages lists.
    static func forEachPage(
        in entry: UnsafeRawBufferPointer, _ body: (UInt64) -> Void
    ) throws(EngineFailure) {
        guard entry.count >= 8, case let count = entry.loadUnaligned(as: Int.self), count >= 0,
            count <= entry.count / 8 - 1
        else { throw EngineFailure(code: MDB_CORRUPTED) }
        for index in 1..<count + 1 { body(entry.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
    }

    /// As `scan`, some rows at once, none of them checked: first a few, because nobody may want more.
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

/// What the engine is given, to read only, and what it gives.
extension MDB_val {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
    var number: UInt64 { mv_data.loadUnaligned(as: UInt64.self) }
}

/// What reads by a transaction.
typealias EngineRead<Result> = (LMDBTransaction) throws(EngineFailure) -> Result
