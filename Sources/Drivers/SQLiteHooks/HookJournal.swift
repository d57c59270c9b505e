// Data that SQLite's hooks record during a transaction: the rows it touches, and whether it was committed. A hook
// must not use the connection that called it, so it only records.
//
// It belongs to the writing connection: hooks run on the writing thread, under the driver's write lock.
import CTidegaugeSQLite
import Glibc
import StillingWellBasis

final class HookJournal {
    /// Maximum number of recorded rows; for more, only the fact is recorded.
    static let kept = 64

    private var touched = TouchedRows()
    private var isCommitted = false

    /// Installs the hooks. The journal must outlive the connection.
    init(_ connection: SQLiteConnection) {
        let context = ObjectPointer.borrowed(self)
        // Not called for WITHOUT ROWID tables, for a DELETE without WHERE, and for writes of other connections.
        sqlite3_update_hook(
            connection.handle,
            { context, _, _, table, row in
                if let table, strcmp(table, "item") == 0 { HookJournal.of(context).touched.add(row) }
            }, context)
        sqlite3_commit_hook(
            connection.handle,
            { context in
                HookJournal.of(context).isCommitted = true
                return 0
            }, context)
        sqlite3_rollback_hook(connection.handle, { HookJournal.of($0).touched = TouchedRows() }, context)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HookJournal {
        ObjectPointer.object(context!)
    }

    /// Returns the rows that the ended transaction touched; none after a rollback.
    func take() -> TouchedRows {
        defer { (touched, isCommitted) = (TouchedRows(), false) }
        return isCommitted ? touched : TouchedRows()
    }
}

/// Row IDs, or the fact that there were too many.
struct TouchedRows {
    private(set) var keys: [Int64] = []
    private(set) var isOverfull = false

    var isEmpty: Bool { keys.isEmpty && !isOverfull }

    mutating func add(_ key: Int64) { if keys.count < HookJournal.kept { keys.append(key) } else { isOverfull = true } }

    mutating func add(_ other: TouchedRows) {
        for key in other.keys { add(key) }
        isOverfull = isOverfull || other.isOverfull
    }
}
