// Where rows are read besides the one at hand: what a filter over links needs. A snapshot and a write transaction are
// sources; so is a transaction whose lock the caller holds already.
import CStillingWellLMDB

protocol RowSource: LargeValueSource {
    var storage: Storage { get }
    /// The version that rows are read at; of a write transaction, the one that it will make.
    var version: UInt64 { get }
    /// The row of an object; nil when there is none.
    func row(_ table: Table, _ id: ObjectID) -> RowReader?
    /// Who has the values of its rows that lie apart, for as long as the rows are valid.
    var largeValues: UnsafeRawPointer { get }
    /// Runs `body` with the transaction. A write transaction has stored everything by then. What the engine fails in is
    /// kept, for `checkReads` or the commit, and the outcome is the fallback.
    func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result
    /// As `reading`, with a source for reading rows meanwhile: what reads through this one may wait for `body`, and so for ever.
    func readingRows(_ body: (LMDBTransaction, any RowSource) throws(EngineFailure) -> Void)
    /// The object with this primary key; nil when there is none. O(log n).
    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID?
    /// Visits rows in order of object ids, some at once, until `body` returns false, with a source for reading other rows
    /// meanwhile. `body` must not read through this one, nor change anything.
    func scanRuns(_ table: Table, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool)
}

extension ScannedRow {
    /// - Parameter source: what it was read from.
    @inline(__always)
    func row(in source: any RowSource) -> RowReader {
        row(UnsafeRawPointer(Unmanaged.passUnretained(source as AnyObject).toOpaque()))
    }
}

extension RowSource {
    var largeValues: UnsafeRawPointer { unretained }

    /// What `find` is where nothing waits to be stored.
    func findStored(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return PrimaryKey.withBytes(of: primaryKey) { bytes in
            reading(or: nil) { (transaction) throws(EngineFailure) in
                try table.find(bytes, index, transaction)
            }
        }
    }

    func readingRows(_ body: (LMDBTransaction, any RowSource) throws(EngineFailure) -> Void) {
        reading(or: ()) { (transaction) throws(EngineFailure) in try body(transaction, self) }
    }

    /// As `scanRuns`, row by row.
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

    /// Whether nothing has changed in a table after one version up to another, but by some commits; false where the log does
    /// not say. O(changes).
    func isUntouched(
        _ table: Table, after from: UInt64, to: UInt64, besides own: ArraySlice<UInt64>
    ) -> Bool {
        let changes = reading(or: nil) { (transaction) throws(EngineFailure) in
            try ChangeLog.read(transaction, storage.log, after: from, to: to)
        }
        return changes.map { !$0.contains { $0.entry.table == table.id && !own.contains($0.version) } } ?? false
    }

    /// Ids of the rows that an index has under `key`, ascending; all of them candidates where the key is cut.
    func ids(_ index: ColumnIndex, key: [UInt8]) -> [ObjectID] {
        reading(or: []) { (transaction) throws(EngineFailure) in try index.ids(transaction, key: key) }
    }

    /// Ids of the rows whose link leads to `target`, ascending.
    func ids(_ index: ColumnIndex, linkingTo target: ObjectID) -> [ObjectID] {
        ids(index, key: ColumnIndex.key(.link(target)) ?? [])
    }

    /// Rows that an edge leads from, given rows it leads to.
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
    /// Where the engine has to be asked, other readers of this snapshot wait meanwhile: for a long scan, open a snapshot of
    /// one's own.
    func scanRuns(_ table: Table, _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool) {
        scanRuns(table, from: 0, taking: { _ in false }, body)
    }

    /// The same, where something can be done with a page's rows without a list of them being made.
    /// - Parameter take: does it with a page whose rows have been checked; false where it cannot, and `body` has to.
    func scanPages(
        _ table: Table, taking take: (MappedPage) -> Bool,
        _ body: (UnsafeBufferPointer<ScannedRow>, any RowSource) -> Bool
    ) {
        scanRuns(table, from: 0, taking: take, body)
    }

    /// Visits the next rows from an id on, those of a page at once.
    /// - Returns: the first id that has not been visited; nil where there is none.
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
            // The engine would follow the page, wherever that leads.
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

/// The rows of a transaction that the caller has for itself, for as long as it has.
private final class HeldRows: RowSource {
    private let snapshot: Snapshot
    private let transaction: LMDBTransaction
    /// The first thing that the engine reported.
    private(set) var found: EngineFailure?
    var failure: StoreError? { snapshot.failure ?? found.map { storage.error($0, "read") } }
    var storage: Storage { snapshot.storage }
    var version: UInt64 { snapshot.version }
    /// The rows may be kept for longer than this.
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
