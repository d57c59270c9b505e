// Source of rows for queries: a snapshot, a write transaction, or the transaction of a snapshot whose lock the caller
// already holds.
import CStillingWellLMDB
import StillingWellBasis

protocol RowSource: LargeValueSource {
    var storage: Storage { get }
    /// Version that rows are read at. For a write transaction, the version that it will commit.
    var version: UInt64 { get }
    /// Row of an object, or nil if there is none.
    func row(_ table: Table, _ id: ObjectID) -> RowReader?
    /// The `LargeValueSource` of the rows, valid as long as they are.
    var largeValues: UnsafeRawPointer { get }
    /// Runs `body` with the LMDB transaction. A write transaction stores its open row before. A failure of `body` is
    /// kept for `checkReads` or the commit, and `fallback` is returned.
    func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result
    /// Runs `body` as `reading` does, with a source of rows for `body`: reading through `self` there may deadlock.
    func readingRows(_ body: (LMDBTransaction, any RowSource) throws(EngineFailure) -> Void)
    /// Object with this primary key, or nil if there is none. O(log n).
    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID?
    /// Number of rows under a key of an index, a number as `ColumnIndex.number`. Nil if LMDB has to be asked.
    func mappedCount(_ index: ColumnIndex, _ key: UInt64) -> Int?
    /// Visits rows in order of object ids, in runs, until `body` returns false. `body` gets a source for reading other
    /// rows. It must not read through `self` or change anything.
    func scanRuns(_ table: Table, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool)
}

extension ScannedRow {
    /// - Parameter source: the source that the row was read from.
    @inline(__always)
    func row(in source: any RowSource) -> RowReader {
        row(UnsafeRawPointer(ObjectPointer.borrowed(source as AnyObject)))
    }
}

extension RowSource {
    var largeValues: UnsafeRawPointer { unretained }

    /// Implements `find` for a source without pending changes.
    func findStored(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return PrimaryKey.withBytes(of: primaryKey) { bytes in
            reading(or: nil) { (transaction) throws(EngineFailure) in
                try table.find(bytes, index, transaction)
            }
        }
    }

    func mappedCount(_ index: ColumnIndex, _ key: UInt64) -> Int? { nil }

    func readingRows(_ body: (LMDBTransaction, any RowSource) throws(EngineFailure) -> Void) {
        reading(or: ()) { (transaction) throws(EngineFailure) in try body(transaction, self) }
    }

    /// Visits rows as `scanRuns` does, one at a time.
    @inline(__always)
    func scan(_ table: Table, _ body: (ObjectID, RowReader, any RowSource) -> Bool) {
        scanRuns(table) { rows, source in
            let values = source.largeValues
            for found in rows where !body(found.id, found.row(values), source) { return false }
            return true
        }
    }

    func scanRuns(_ table: Table, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool) {
        readingRows { (transaction, source) throws(EngineFailure) in
            try LMDB.scanRuns(transaction, table.rows, from: 0) { (rows) throws(EngineFailure) in
                try table.check(rows, at: version)
                return body(rows, source)
            }
        }
    }

    /// Whether no commit but those in `own` changed a table in versions `from + 1 ... to`. False if the log does not
    /// list all changes of these versions. O(changes).
    func isUntouched(
        _ table: Table, after from: UInt64, to: UInt64, besides own: ArraySlice<UInt64>
    ) -> Bool {
        let changes = reading(or: nil) { (transaction) throws(EngineFailure) in
            try ChangeLog.read(transaction, storage.log, after: from, to: to)
        }
        return changes.map { !$0.contains { $0.entry.table == table.id && !own.contains($0.version) } } ?? false
    }

    /// Ids of the rows that an index has under `key`, ascending. If the key is cut, they are candidates.
    func ids(_ index: ColumnIndex, key: [UInt8]) -> [ObjectID] {
        reading(or: []) { (transaction) throws(EngineFailure) in try index.ids(transaction, key: key) }
    }

    /// Ids of the rows whose link leads to `target`, ascending.
    func ids(_ index: ColumnIndex, linkingTo target: ObjectID) -> [ObjectID] {
        ids(index, key: ColumnIndex.key(.link(target)) ?? [])
    }

    /// Rows from which an edge leads to any of the given rows.
    func sources(of targets: some Sequence<ObjectID>, along edge: LinkEdge) -> Set<ObjectID> {
        var found: Set<ObjectID> = []
        let elements = edge.elements.flatMap { storage.tablesByID[$0] }
        for target in targets {
            for id in ids(edge.index, linkingTo: target) {
                guard let elements else {
                    found.insert(id)
                    continue
                }
                if let row = row(elements, id) { found.insert(ObjectID(rawValue: row.slot(ListTable.owner))) }
            }
        }
        return found
    }
}

extension Snapshot: RowSource {
    /// If rows cannot be read from mapped pages, other readers of this snapshot wait meanwhile: use a separate snapshot
    /// for a long scan.
    func scanRuns(_ table: Table, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool) {
        scanRuns(table, from: 0, taking: { _ in false }, body)
    }

    /// Visits rows as `scanRuns` does. `take` can process a whole page without a list of its rows.
    /// - Parameter take: processes a page of checked rows. Returns false if it cannot, and `body` gets the rows.
    func scanPages(
        _ table: Table, taking take: (MappedPage) -> Bool,
        _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        scanRuns(table, from: 0, taking: take, body)
    }

    /// Visits the next run of rows from an id on.
    /// - Returns: the id after the last visited one, or nil if there was no row or it could not be read.
    func scanRun(
        _ table: Table, from first: UInt64, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Void
    ) -> UInt64? {
        var next: UInt64?
        scanRuns(table, from: first, taking: { _ in false }) { rows, source in
            body(rows, source)
            next = rows.last.flatMap { $0.id.rawValue == .max ? nil : $0.id.rawValue + 1 }
            return false
        }
        return next
    }

    private func scanRuns(
        _ table: Table, from first: UInt64, taking take: (MappedPage) -> Bool,
        _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        var next = first
        if let pages = pages(table.rows, table.rowsName) {
            var failure: EngineFailure?
            let outcome = withExtendedLifetime(self) {
                pages.forEachRun(from: &next, taking: { table.areChecked($0, at: version) && take($0) }) { rows in
                    if !table.areChecked(rows, at: version), let found = table.failure(in: rows, at: version) {
                        failure = found
                        return false
                    }
                    return body(rows, self)
                }
            }
            if let failure { return keep(failure) }
            // LMDB would follow the damaged page.
            return outcome == .unreadable ? keep(EngineFailure(code: MDB_CORRUPTED)) : ()
        }
        readingRows { (transaction, source) throws(EngineFailure) in
            try LMDB.scanRuns(transaction, table.rows, from: next) { (rows) throws(EngineFailure) in
                try table.check(rows, at: version)
                return body(rows, source)
            }
        }
    }

    func readingRows(_ body: (LMDBTransaction, any RowSource) throws(EngineFailure) -> Void) {
        reading(or: ()) { (transaction) throws(EngineFailure) in
            beginReadingRows()
            defer { endReadingRows() }
            let source = HeldRows(self, transaction)
            try body(transaction, source)
            if let failure = source.found { throw failure }
        }
    }
}

/// Reads rows of a snapshot whose lock the caller holds.
private final class HeldRows: RowSource {
    private let snapshot: Snapshot
    private let transaction: LMDBTransaction
    /// First failure of a read through this object.
    private(set) var found: EngineFailure?
    var failure: StoreError? { snapshot.failure ?? found.map { storage.error($0, "read") } }
    var storage: Storage { snapshot.storage }
    var version: UInt64 { snapshot.version }
    // Rows may outlive this object, so their source is the snapshot.
    var largeValues: UnsafeRawPointer { snapshot.unretained }

    init(_ snapshot: Snapshot, _ transaction: LMDBTransaction) {
        self.snapshot = snapshot
        self.transaction = transaction
    }

    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let row = snapshot.mappedRow(table, id) { return row }
        return reading(or: nil) { (transaction) throws(EngineFailure) in
            try table.row(id, transaction, at: version, largeValues)
        }
    }

    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID? { findStored(table, primaryKey: primaryKey) }

    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        snapshot.bytes(ofLarge: number, sum: sum, byteCount: byteCount)
    }

    func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result {
        do throws(EngineFailure) {
            return try body(transaction)
        } catch {
            if found == nil { found = error }
            return fallback()
        }
    }
}
