// A secondary index: maps the sort key of a column, cut to `maxKeyBytes`, to the ids of its rows. Different values may
// have the same cut key, so results are candidates. Null values have no entry.
//
// Changed in the write transaction that changes the row. Reads follow the locking of the transaction that they use.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

/// The index of one column of a table. A primary key with the same key encoding can also be read as one.
struct ColumnIndex: Sendable {
    /// Maximum length of a key in bytes; LMDB's limit is 511.
    static let maxKeyBytes = 500

    static let flags = UInt32(MDB_DUPSORT | MDB_DUPFIXED)

    static func name(_ table: UInt32, _ column: Int) -> String { "index.\(table).\(column)" }

    let table: UInt32
    let column: Int
    let type: ColumnType
    let isOptional: Bool
    /// Whether no two rows have the same key.
    let isUnique: Bool
    let handle: MDB_dbi
    /// LMDB's name of the index. Not stored: the index is copied often, and each copy would count references.
    var name: [UInt8] { Array((isUnique ? EngineName.keys(table) : Self.name(table, column)).utf8) }

    /// Index of a column of a stored table.
    init(of table: TableSchema, _ column: Int, handle: MDB_dbi) {
        let schema = table.columns[column]
        self.init(
            table: table.id, column: column, type: schema.type, isOptional: schema.isOptional, handle: handle)
    }

    /// - Parameter isUnique: whether no two rows have the same key.
    init(
        table: UInt32, column: Int, type: ColumnType, isOptional: Bool, isUnique: Bool = false, handle: MDB_dbi
    ) {
        (self.table, self.column, self.type) = (table, column, type)
        (self.isOptional, self.isUnique, self.handle) = (isOptional, isUnique, handle)
    }

    /// Key of a row, or nil if the value is null.
    func key(_ row: RowReader) -> [UInt8]? {
        if isOptional, row.isNull(column) { return nil }
        var key = SortKeyBytes()
        key.append(stored: row, column, type)
        return key.prefix(Self.maxKeyBytes)
    }

    /// Key of a value, or nil for null.
    static func key(_ value: ColumnValue) -> [UInt8]? {
        var key = SortKeyBytes()
        guard key.append(value, ascending: true) else { return nil }
        return key.prefix(maxKeyBytes)
    }

    /// Key of a value as a number, whose big-endian bytes are the key. Nil for values of other types than integers and
    /// links.
    @inline(__always)
    static func number(_ value: ColumnValue) -> UInt64? {
        switch value {
        case .int(let value): SortKeyBytes.ordered(int: UInt64(bitPattern: Int64(value)))
        case .link(let id): id.rawValue
        case .null, .double, .date, .bool, .string, .data, .uuid: nil
        }
    }

    /// Ids of the rows under `key`, ascending.
    func ids(_ transaction: LMDBTransaction, key: [UInt8]) throws(EngineFailure) -> [ObjectID] {
        var found: [ObjectID] = []
        try scan(transaction, IndexScan(from: key)) { _, id, _ in
            found.append(id)
            return !isUnique
        }
        return found
    }

    /// Ids of the rows with keys from `low` to below `high`, in the order of the index. Candidates if these are longer
    /// than a key can be. Returns nil if there are more than `limit`.
    func ids(
        _ transaction: LMDBTransaction, from low: [UInt8]?, below high: [UInt8]?, limit: Int
    ) throws(EngineFailure) -> [ObjectID]? {
        var found: [ObjectID] = []
        try scan(transaction, IndexScan(from: low, below: high, MDB_NEXT)) { _, id, _ in
            found.append(id)
            return found.count <= limit
        }
        return found.count <= limit ? found : nil
    }

    /// Returns whether rows hold NaN. Their places in the index differ from those in a sort order of rows.
    func hasValuesInNoOrder(_ transaction: LMDBTransaction) throws(EngineFailure) -> Bool {
        guard type == .double || type == .date else { return false }
        let numbers = SortKeyBytes.ordered(ColumnSchema(name: "", type: type, isOptional: false), ascending: true)
        if try ids(transaction, from: nil, below: numbers.lower, limit: 0) == nil { return true }
        return try ids(transaction, from: numbers.upper, below: nil, limit: 0) == nil
    }

    /// Number of rows from one key to below another, neither of which is cut. O(log n + keys in the range).
    func count(
        _ transaction: LMDBTransaction, from low: [UInt8]?, below high: [UInt8]?
    ) throws(EngineFailure) -> Int {
        var count = 0
        var failure: Int32 = MDB_SUCCESS
        try scan(transaction, IndexScan(from: low, below: high, MDB_NEXT_NODUP)) { _, _, cursor in
            var rows = 1
            if !isUnique { failure = engine_cursor_count(cursor, &rows) }
            count += rows
            return failure == MDB_SUCCESS
        }
        _ = try LMDB.found(failure)
        return count
    }

    /// Visits entries in ascending order until `body` returns false, and checks that none was skipped.
    private func scan(
        _ transaction: LMDBTransaction, _ range: IndexScan,
        _ body: (UnsafeRawBufferPointer, ObjectID, LMDBCursor) -> Bool
    ) throws(EngineFailure) {
        let cursor = try LMDB.openCursor(transaction, handle)
        defer { mdb_cursor_close(cursor) }
        var isWhole = true
        var (isEmpty, isEnded) = (true, false)
        var key = MDB_val()
        var value = MDB_val()
        let last = range.first.withUnsafeBytes { bytes -> Int32 in
            key = MDB_val(bytes)
            var code = engine_cursor_get(cursor, &key, &value, range.start)
            // Entries of one key mostly share its bytes.
            var (known, sum): (MDB_val, UInt32) = (MDB_val(), 0)
            while code == MDB_SUCCESS {
                if key.mv_data != known.mv_data || key.mv_size != known.mv_size {
                    // A page that two entries lead to can make the scan endless.
                    if known.mv_data != nil, key.bytes.precedes(known.bytes) {
                        isWhole = false
                        return code
                    }
                    if !range.end.isEmpty, !range.end.withUnsafeBytes({ key.bytes.precedes($0) }) { return code }
                    (known, sum) = (key, Checksum.key(key.bytes, table, isUnique ? nil : column))
                }
                guard let id = IDEntry.id(value.bytes, key: sum) else {
                    isWhole = false
                    return code
                }
                isEmpty = false
                guard body(key.bytes, ObjectID(rawValue: id), cursor) else {
                    isEnded = true
                    return code
                }
                code = engine_cursor_get(cursor, &key, &value, range.step)
            }
            return code
        }
        guard isWhole else { throw damaged }
        _ = try LMDB.found(last)
        // A unique key has only one entry, and it was found.
        if isUnique, range.isOneKey, !isEmpty { return }
        try require(transaction, range, end: isEnded ? engine_entry(key: key, value: value) : engine_entry(), isEmpty)
    }

    /// Checks that a scan skipped no entry.
    private func require(
        _ transaction: LMDBTransaction, _ range: IndexScan, end: engine_entry, _ isEmpty: Bool
    ) throws(EngineFailure) {
        let failure = range.first.withUnsafeBytes { low in
            range.end.withUnsafeBytes { high -> EngineFailure? in
                var keys = engine_range(keys: MDB_val(low), range.isOneKey ? MDB_val(low) : MDB_val())
                if !range.isOneKey, !range.end.isEmpty { keys.high = MDB_val(high) }
                if end.key.mv_data != nil { (keys.high, keys.end) = (end.key, end) }
                keys.counts = range.step == MDB_NEXT_NODUP
                return check(transaction, keys, isEmpty)
            }
        }
        if let failure { throw failure }
    }

    /// - Returns: damage of the range's pages or, for an empty range, of an entry next to it; nil if there is none.
    func check(_ transaction: LMDBTransaction, _ range: engine_range, _ isEmpty: Bool) -> EngineFailure? {
        do throws(EngineFailure) {
            guard isEmpty else {
                try RangeCheck.require(transaction, handle, range)
                return nil
            }
            try RangeCheck.requireEmpty(transaction, handle, range) { (key, entry) throws(EngineFailure) in
                if IDEntry.id(entry, key: Checksum.key(key, table, isUnique ? nil : column)) == nil { throw damaged }
            }
            return nil
        } catch {
            return error
        }
    }

    var damaged: EngineFailure { isUnique ? .damagedKey(table) : .damagedIndex(table, column) }

    /// - Returns: LMDB's code, and the address of the stored entry.
    func insert(
        _ transaction: LMDBTransaction, key: [UInt8], _ id: ObjectID
    ) -> (code: Int32, place: UnsafeRawPointer?) {
        var cursor: LMDBCursor?
        let opened = engine_cursor_open(transaction, handle, &cursor)
        if opened != 0 { return (opened, nil) }
        defer { mdb_cursor_close(cursor) }
        let stored = key.withUnsafeBytes {
            IDEntry.with($0, id.rawValue, table, column) { engine_cursor_put(cursor, &$0, &$1, 0) }
        }
        if stored != 0 { return (stored, nil) }
        var key = MDB_val()
        var value = MDB_val()
        let code = engine_cursor_get(cursor, &key, &value, MDB_GET_CURRENT)
        return (code, code == 0 ? UnsafeRawPointer(value.mv_data) : nil)
    }

    /// Removes the entries of all rows that link to an object. There must be at least one.
    /// - Returns: LMDB's code.
    func removeAll(_ transaction: LMDBTransaction, linkingTo target: ObjectID) -> Int32 {
        (ColumnIndex.key(.link(target)) ?? []).withUnsafeBytes {
            var key = MDB_val($0)
            return engine_del(transaction, handle, &key, nil)
        }
    }

    func remove(_ transaction: LMDBTransaction, key: [UInt8], _ id: ObjectID) -> Int32 {
        key.withUnsafeBytes {
            IDEntry.with($0, id.rawValue, table, column) { engine_del(transaction, handle, &$0, &$1) }
        }
    }
}

/// Range of index entries to visit.
private struct IndexScan {
    let first: [UInt8]
    /// Exclusive upper bound, or empty for an open end.
    let end: [UInt8]
    let start: MDB_cursor_op
    let step: MDB_cursor_op
    var isOneKey: Bool { start == MDB_SET }

    /// The entries of one key.
    init(from key: [UInt8]) { (first, end, start, step) = (key, [], MDB_SET, MDB_NEXT_DUP) }

    /// Range of entries from one key to below another. Both keys are cut to the length of an index key.
    init(from low: [UInt8]?, below high: [UInt8]?, _ step: MDB_cursor_op) {
        let (first, end) = ColumnIndex.bounds(from: low, below: high)
        // No key is empty, so a range without a lower bound begins at [0].
        (self.first, self.end, start, self.step) = (first.isEmpty ? [0] : first, end, MDB_SET_RANGE, step)
    }
}

extension UnsafeRawBufferPointer {
    /// Compares in the order of LMDB's keys.
    func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
        let common = Swift.min(count, other.count)
        let order = common == 0 ? 0 : memcmp(baseAddress!, other.baseAddress!, common)
        return order != 0 ? order < 0 : count < other.count
    }
}
