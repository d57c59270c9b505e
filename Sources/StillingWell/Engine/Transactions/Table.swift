// A table of an open store. Constant once the store is open; usable from any thread.
import CStillingWellEngine
import CStillingWellLMDB

/// A stored table: its schema and the handles of its rows and of its primary-key index.
///
/// Unchecked because of `links`.
final class Table: @unchecked Sendable {
    let schema: TableSchema
    let layout: TableLayout
    let rows: MDB_dbi
    /// Rows that have been checked against their checksum.
    let checked: CheckedRows
    let primaryIndex: MDB_dbi?
    /// LMDB's names of the tables of rows and of primary keys.
    let (rowsName, keysName): ([UInt8], [UInt8])
    /// Type of the primary key, or nil if there is none.
    let keyType: ColumnType?
    /// Whether the keys are numbers.
    let hasNumberKeys: Bool
    /// The primary key as an ordered index; nil unless it is an integer.
    private let keyIndex: ColumnIndex?
    /// Indexes and links to and from other tables, or nil if the table has none. Set while the store is opened and
    /// constant afterwards, so accesses need no check.
    var links: TableLinks?

    let id: UInt32

    init(schema: TableSchema, layout: TableLayout, rows: MDB_dbi, primaryIndex: MDB_dbi?, checked: CheckedRows) {
        self.checked = checked
        self.schema = schema
        self.layout = layout
        self.rows = rows
        self.primaryIndex = primaryIndex
        id = schema.id
        rowsName = Array(EngineName.rows(id).utf8)
        keysName = Array(EngineName.keys(id).utf8)
        keyType = schema.primaryKey.map { schema.columns[$0].type }
        hasNumberKeys = keyType.map { !$0.isOutOfLine } ?? false
        keyIndex = primaryIndex.flatMap { handle in
            guard let column = schema.primaryKey, schema.columns[column].type == .int else { return nil }
            return ColumnIndex(
                table: schema.id, column: column, type: .int, isOptional: false, isUnique: true, handle: handle)
        }
    }

    /// Index that finds rows by ranges of a column, or nil.
    func index(_ column: Int) -> ColumnIndex? {
        if let keyIndex, keyIndex.column == column { return keyIndex }
        return links?.index(column)
    }

    /// Row of an object, or nil if there is none. O(log n), and O(bytes) if it has not been checked.
    /// - Parameters:
    ///   - version: the version of `transaction`; in a write, the version that it will commit.
    ///   - source: the `LargeValueSource` of the row.
    @inline(__always)
    func row(
        _ id: ObjectID, _ transaction: LMDBTransaction, at version: UInt64, _ source: UnsafeRawPointer
    ) throws(EngineFailure) -> RowReader? {
        guard let bytes = try LMDB.get(transaction, rows, id: id.rawValue) else { return nil }
        return try row(bytes, id.rawValue, at: version, source)
    }

    /// Reads the row found under an id, and checks it if necessary.
    @inline(__always)
    func row(
        _ bytes: UnsafeRawBufferPointer, _ id: UInt64, at version: UInt64, _ source: UnsafeRawPointer
    ) throws(EngineFailure) -> RowReader {
        if !checked.contains(id, at: version) { try check(bytes, id, at: version) }
        return RowReader(unchecked: bytes, source)
    }

    /// Checks rows met by a scan.
    func check(_ rows: UnsafeBufferPointer<ScannedRow>, at version: UInt64) throws(EngineFailure) {
        for found in rows where !checked.contains(found.id.rawValue, at: version) {
            try check(found.image, found.id.rawValue, at: version)
        }
    }

    /// Returns whether the rows of a run in a snapshot, and all ids between them, have been checked. O(1).
    @inline(__always)
    func areChecked(_ rows: UnsafeBufferPointer<ScannedRow>, at version: UInt64) -> Bool {
        rows.isEmpty
            || checked.contains(rows[0].id.rawValue, through: rows[rows.count &- 1].id.rawValue, at: version)
    }

    /// Returns whether all rows of a page have been checked.
    @inline(__always)
    func areChecked(_ page: MappedPage, at version: UInt64) -> Bool {
        checked.contains(page.entry(0).id, through: page.entry(page.count &- 1).id, at: version)
    }

    /// Checks a run of rows of a snapshot and returns the first failure, or nil.
    @inline(never)
    func failure(in rows: UnsafeBufferPointer<ScannedRow>, at version: UInt64) -> EngineFailure? {
        guard let first = rows.first?.id.rawValue, let last = rows.last?.id.rawValue else { return nil }
        do throws(EngineFailure) {
            for found in rows where !checked.contains(found.id.rawValue, at: version) {
                try RowReader.check(found.image, id, found.id.rawValue)
            }
        } catch {
            return error
        }
        // Ids between them have no row. A row added there later is an own one, or its commit clears the bit.
        if checked.insert(first, through: last, at: version) { return nil }
        for found in rows { checked.insert(found.id.rawValue, at: version) }
        return nil
    }

    @inline(never)
    private func check(_ bytes: UnsafeRawBufferPointer, _ id: UInt64, at version: UInt64) throws(EngineFailure) {
        try RowReader.check(bytes, self.id, id)
        checked.insert(id, at: version)
    }

    /// Object id in an entry of the primary keys.
    @inline(__always)
    func object(_ entry: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(EngineFailure) -> ObjectID {
        guard let id = IDEntry.id(entry, key: Checksum.key(key, self.id, nil)) else { throw .damagedKey(self.id) }
        return ObjectID(rawValue: id)
    }

    /// Object under a primary key, or nil if there is none. O(log n).
    func find(
        _ key: UnsafeRawBufferPointer, _ index: MDB_dbi, _ transaction: LMDBTransaction
    ) throws(EngineFailure) -> ObjectID? {
        var (wanted, entry) = (MDB_val(key), MDB_val())
        if try LMDB.found(engine_get(transaction, index, &wanted, &entry)) { return try object(entry.bytes, key: key) }
        let range = engine_range(keys: MDB_val(key), MDB_val(key))
        try RangeCheck.requireEmpty(transaction, index, range) { (beside) throws(EngineFailure) in
            _ = try object(beside.value, key: beside.key)
        }
        // Every row has one key. If the key tree has lost a part, its pages may still be whole, but the counts differ.
        guard try LMDB.count(transaction, index) == rowCount(transaction) else { throw .damagedKey(id) }
        return nil
    }

    func rowCount(_ transaction: LMDBTransaction) throws(EngineFailure) -> Int { try LMDB.count(transaction, rows) }
}
