// The parts of SQLite's C interface that the driver needs: a connection, its statements, bound values and results. A
// connection is used by one thread at a time; its owner ensures that.
import CTidegaugeSQLite
import Foundation
import TidegaugeDriver

struct SQLiteError: Error, CustomStringConvertible {
    var description: String
}

final class SQLiteConnection {
    let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a file in WAL mode, and creates it if necessary.
    /// - Parameter synchronous: value of the pragma `synchronous`.
    init(path: String, synchronous: String) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw SQLiteError(description: "cannot open \(path): \(String(cString: sqlite3_errstr(code)))")
        }
        handle = opened
        // A reader may find the file locked while the first writer resets the WAL.
        sqlite3_busy_timeout(handle, 5_000)
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs any number of statements and ignores their rows.
    func execute(_ sql: String) throws {
        if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw failure(sql) }
    }

    /// Runs one statement, prepared the first time, and calls `row` with each row.
    func run(_ sql: String, _ values: [Int64] = [], row: (SQLiteRow) -> Void = { _ in }) throws {
        let statement = try statement(sql)
        defer { sqlite3_reset(statement) }
        for (index, value) in values.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), value) }
        try finish(statement, sql, row)
    }

    /// Runs one statement with values of any type, prepared the first time, and ignores its rows.
    func run(_ sql: String, binding values: [SQLValue]) throws {
        let statement = try statement(sql)
        defer { sqlite3_reset(statement) }
        for (index, value) in values.enumerated() { Self.bind(value, Int32(index + 1), statement) }
        try finish(statement, sql) { _ in }
    }

    /// Binds a copy of the value.
    private static func bind(_ value: SQLValue, _ column: Int32, _ statement: OpaquePointer) {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number): sqlite3_bind_int64(statement, column, number)
        case .text(let text): sqlite3_bind_text(statement, column, text, Int32(text.utf8.count), copied)
        case .bytes(let data):
            // An empty blob is not null.
            if data.isEmpty { sqlite3_bind_zeroblob(statement, column, 0) }
            data.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
                sqlite3_bind_blob(statement, column, start, Int32(bytes.count), copied)
            }
        }
    }

    private func finish(_ statement: OpaquePointer, _ sql: String, _ row: (SQLiteRow) -> Void) throws {
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: row(SQLiteRow(statement: statement))
            case SQLITE_DONE: return
            default: throw failure(sql)
            }
        }
    }

    /// Runs `body` in a transaction that reads one state.
    func read<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    var changes: Int { Int(sqlite3_changes(handle)) }

    private func statement(_ sql: String) throws -> OpaquePointer {
        if let known = statements[sql] { return known }
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else { throw failure(sql) }
        statements[sql] = prepared
        return prepared
    }

    private func failure(_ sql: String) -> SQLiteError {
        SQLiteError(description: "\(String(cString: sqlite3_errmsg(handle))) in '\(sql)'")
    }
}

/// The current row of a statement, valid until its next step.
struct SQLiteRow {
    fileprivate let statement: OpaquePointer

    subscript(column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Nil for null.
    func number(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : self[column]
    }

    func text(_ column: Int32) -> String { String(decoding: data(column), as: UTF8.self) }

    func data(_ column: Int32) -> Data {
        guard let start = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
