// What SQLite's hooks note while a transaction runs: the rows it touches, and whether it was committed. A hook may not
// use the connection that called it, so it writes down and does nothing else.
//
// Belongs to the writing connection: hooks are called on the thread that writes, under the driver's write lock.
import CTidegaugeSQLite
import Glibc

final class HookJournal {
    /// Beyond so many rows it is only known that there were many.
    static let kept = 64

    private var touched = TouchedRows()
    private var isCommitted = false

    /// Installs the hooks. The journal must outlive the connection.
    init(_ connection: SQLiteConnection) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        // Not called for WITHOUT ROWID tables, for a DELETE without WHERE, and for what other connections write.
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
        Unmanaged<HookJournal>.fromOpaque(context!).takeUnretainedValue()
    }

    /// What was touched by the transaction that ended.
    func take() -> TouchedRows {
        defer { (touched, isCommitted) = (TouchedRows(), false) }
        return isCommitted ? touched : TouchedRows()
    }
}

/// Row ids, or that there were too many to name.
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
