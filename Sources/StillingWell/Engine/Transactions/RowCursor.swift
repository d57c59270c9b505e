// A pull-style cursor over one table, for comparing two snapshots. Each step takes the snapshot's lock, so other
// readers can run between steps.
import CStillingWellEngine
import CStillingWellLMDB

struct ChangedRow: Equatable {
    var id: ObjectID
    /// Columns written according to the log or, without it, columns with different values. All ones if only one
    /// snapshot has the row.
    var columns: UInt64
    /// Last version that changed the row. If that is unknown, the version of the newer snapshot.
    var version: UInt64
    /// Range of the row's entries in `NetChanges.log`, empty if the log is not available.
    var history = 0..<0
}

extension Snapshot {
    /// Rows that differ between an older snapshot and this one. Used if the log is not available. O(rows of the table).
    func differingRows(_ table: Table, from old: Snapshot) -> [ChangedRow] {
        var changed: [ChangedRow] = []
        let before = RowCursor(old, table)
        let after = RowCursor(self, table)
        var a = before.next()
        var b = after.next()
        while a != nil || b != nil {
            let aID = a?.id ?? .max
            let bID = b?.id ?? .max
            if aID < bID {
                changed.append(ChangedRow(id: ObjectID(rawValue: aID), columns: .max, version: version))
                a = before.next()
            } else if bID < aID {
                changed.append(ChangedRow(id: ObjectID(rawValue: bID), columns: .max, version: version))
                b = after.next()
            } else {
                if !a!.row.elementsEqual(b!.row) {
                    let (before, after) = (RowReader(a!.row, old.unretained), RowReader(b!.row, unretained))
                    let columns = after.columns(differingFrom: before, table.schema)
                    changed.append(ChangedRow(id: ObjectID(rawValue: aID), columns: columns, version: version))
                }
                a = before.next()
                b = after.next()
            }
        }
        return changed
    }
}

/// Walks the rows of one table in order of ids. Used by one thread.
private final class RowCursor {
    private let snapshot: Snapshot
    private let table: Table
    private let cursor: LMDBCursor?
    private var hasStarted = false

    init(_ snapshot: Snapshot, _ table: Table) {
        self.snapshot = snapshot
        self.table = table
        cursor = snapshot.reading(or: nil) { (transaction) throws(EngineFailure) in
            try LMDB.openCursor(transaction, table.rows)
        }
    }

    deinit { snapshot.reading(or: ()) { _ in mdb_cursor_close(cursor) } }

    func next() -> (id: UInt64, row: UnsafeRawBufferPointer)? {
        guard let cursor else { return nil }
        let step = hasStarted ? MDB_NEXT : MDB_FIRST
        hasStarted = true
        return snapshot.reading(or: nil) { (_) throws(EngineFailure) in
            var key = MDB_val()
            var value = MDB_val()
            guard try LMDB.found(engine_cursor_get(cursor, &key, &value, step)) else { return nil }
            return (key.number, try table.row(value.bytes, key.number, at: snapshot.version, snapshot.unretained).image)
        }
    }
}
