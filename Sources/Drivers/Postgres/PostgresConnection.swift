// The parts of libpq that the drivers need. A connection is used by one thread at a time; its owner ensures that.
import CTidegaugePostgres
import Glibc
import TidegaugeDriver

/// An error of the server or of libpq.
public struct PostgresError: Error, CustomStringConvertible, Sendable {
    /// SQLSTATE of the server's error, such as `40001`; empty for other errors.
    public let sqlState: String
    /// Whether the connection was lost or could not be made. A later attempt may succeed.
    public let isConnectionLost: Bool
    public let description: String

    init(sqlState: String = "", _ message: String, in statement: String? = nil, isConnectionLost: Bool = false) {
        (self.sqlState, self.isConnectionLost) = (sqlState, isConnectionLost)
        let words = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
        let place = statement.map { " in '\($0.prefix(200))'" } ?? ""
        description = "PostgreSQL\(sqlState.isEmpty ? "" : " (\(sqlState))"): \(words)\(place)"
    }
}

final class PostgresConnection {
    private let handle: OpaquePointer
    /// Process ID of the server's process for this connection.
    let serverProcess: Int32
    /// Names of prepared statements by their text.
    private var names: [String: String] = [:]
    /// Number of the newest name. Names are not used again.
    private var lastName = 0

    /// - Parameter options: by libpq's keyword. Later options override earlier ones, so a `dbname` that is a
    ///   connection string must come first.
    /// - Throws: `PostgresError`.
    init(_ options: [(String, String)]) throws {
        let (keys, values) = (options.map(\.0), options.map(\.1))
        let opened = Self.withCStrings(keys) { keys in
            Self.withCStrings(values) { values in PQconnectdbParams(keys, values, 1) }
        }
        guard let opened else { throw PostgresError("there is no memory for a connection") }
        (handle, serverProcess) = (opened, PQbackendPID(opened))
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle))
            // `deinit` runs only if all properties have been set before an initializer throws; here they have.
            throw PostgresError(message, isConnectionLost: true)
        }
        // By default libpq prints notices to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    /// Calls `body` with a null-terminated array of C strings.
    static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { pointers in
            // Never empty, because it ends with null.
            body(pointers.baseAddress.unsafelyUnwrapped)
        }
    }

    var socket: Int32 { PQsocket(handle) }
    var serverVersion: Int32 { PQserverVersion(handle) }

    // MARK: Statements

    /// Runs any number of statements and ignores their rows.
    func execute(_ sql: String) throws { _ = try checked(PQexec(handle, sql), sql) }

    /// Runs one statement, which is prepared the first time, and waits for the result.
    func run(_ sql: String, _ values: [Int64] = []) throws -> PostgresRows {
        let name = try prepared(sql)
        return try withBinary(values) { pointers, lengths, formats in
            try checked(PQexecPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1), sql)
        }
    }

    /// Runs statements in one round trip, and prepares each the first time in one more. After a failure the following
    /// ones are not run.
    func pipeline(_ statements: [(sql: String, values: [Int64])]) throws -> [PostgresRows] {
        let names = try statements.map { try prepared($0.sql) }
        guard PQenterPipelineMode(handle) == 1 else { throw failure("pipeline mode") }
        defer { PQexitPipelineMode(handle) }
        for (name, statement) in zip(names, statements) {
            let sent = withBinary(statement.values) { pointers, lengths, formats in
                PQsendQueryPrepared(handle, name, Int32(statement.values.count), pointers, lengths, formats, 1)
            }
            guard sent == 1 else { throw failure(statement.sql) }
        }
        guard PQpipelineSync(handle) == 1 else { throw failure("pipeline") }
        var rows: [PostgresRows] = []
        var fault: PostgresError?
        for statement in statements {
            do {
                rows.append(try checked(PQgetResult(handle), statement.sql))
            } catch let error as PostgresError {
                fault = fault ?? error
            }
            // A null result separates statements.
            while let more = PQgetResult(handle) { PQclear(more) }
        }
        PQclear(PQgetResult(handle))
        if let fault { throw fault }
        return rows
    }

    private func prepared(_ sql: String) throws -> String {
        if let known = names[sql] { return known }
        let name = "s\(lastName + 1)"
        _ = try checked(PQprepare(handle, name, sql, 0, nil), sql)
        lastName += 1
        names[sql] = name
        return name
    }

    /// Deallocates a statement that is not run again.
    func forget(_ sql: String) throws {
        if let name = names.removeValue(forKey: sql) { try execute("DEALLOCATE \(name)") }
    }

    private func withBinary<Result>(
        _ values: [Int64],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) throws -> Result
    ) rethrows -> Result {
        try values.map(\.bigEndian).withUnsafeBytes { bytes in
            let pointers = values.indices.map {
                bytes.baseAddress.map { base in UnsafePointer(base.assumingMemoryBound(to: CChar.self)) }?.advanced(
                    by: $0 * 8)
            }
            let lengths = Array(repeating: Int32(8), count: values.count)
            let formats = Array(repeating: Int32(1), count: values.count)
            return try pointers.withUnsafeBufferPointer { pointers in
                try body(pointers.baseAddress, lengths, formats)
            }
        }
    }

    /// Sends rows in the text format of COPY, one per line.
    func copy(into table: String, lines: (_ send: (String) throws -> Void) throws -> Void) throws {
        let sql = "COPY \(table) FROM STDIN"
        _ = try checked(PQexec(handle, sql), sql)
        try lines { line in
            guard PQputCopyData(handle, line, Int32(line.utf8.count)) == 1 else { throw failure(sql) }
        }
        guard PQputCopyEnd(handle, nil) == 1 else { throw failure(sql) }
        _ = try checked(PQgetResult(handle), sql)
        while let more = PQgetResult(handle) { PQclear(more) }
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    // MARK: Notifications

    /// Reads the available input. Returns the number of new notifications.
    func takeNotifications() throws -> Int {
        guard PQconsumeInput(handle) == 1 else { throw failure("LISTEN") }
        var count = 0
        while let one = PQnotifies(handle) {
            PQfreemem(one)
            count += 1
        }
        return count
    }

    // MARK: Replication connections

    /// - Returns: the name of the snapshot at which the slot begins. The snapshot ends with the next command, the
    ///   slot with the connection.
    func makeSlot(_ name: String) throws -> String {
        // Syntax that versions before 15 also accept.
        let sql = "CREATE_REPLICATION_SLOT \"\(name)\" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT"
        return try checked(PQexec(handle, sql), sql).text(0, 2)
    }

    /// Starts physical replication at the current end of the log.
    func startLog() throws {
        let sql = "IDENTIFY_SYSTEM"
        let end = try checked(PQexec(handle, sql), sql).text(0, 2)
        try execute("START_REPLICATION PHYSICAL \(end)")
    }

    /// Reads the available input.
    func takeIn() throws { guard PQconsumeInput(handle) == 1 else { throw failure("replication") } }

    /// Returns the result of `body` for the next message, or nil if none has been received completely.
    func takeCopied<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        var message: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(handle, &message, 1)
        if length > 0 {
            defer { PQfreemem(message) }
            return try body(UnsafeRawBufferPointer(start: message, count: Int(length)))
        }
        if length == 0 { return nil }
        // The server has ended the stream and reports why, or the connection is lost.
        if length == -1 { _ = try checked(PQgetResult(handle), "replication") }
        throw PostgresError(
            "the server has ended the stream: \(String(cString: PQerrorMessage(handle)))", isConnectionLost: true)
    }

    func sendCopied(_ bytes: [UInt8]) throws {
        let isSent = bytes.withUnsafeBytes { bytes in
            PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
        }
        guard isSent, PQflush(handle) >= 0 else { throw failure("replication feedback") }
    }

    // MARK: Errors

    private func checked(_ result: OpaquePointer?, _ sql: String) throws -> PostgresRows {
        guard let result else { throw failure(sql) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_COPY_BOTH: return PostgresRows(result)
        default:
            defer { PQclear(result) }
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            throw PostgresError(
                sqlState: state, String(cString: PQresultErrorMessage(result)), in: sql,
                isConnectionLost: isLost || Self.isEnd(state))
        }
    }

    /// Whether the server has ended or refused the connection, such as at a shutdown, or the state is of class 08
    /// (connection exception).
    private static func isEnd(_ state: String) -> Bool { state.hasPrefix("57P0") || state.hasPrefix("08") }

    private var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    private func failure(_ sql: String) -> PostgresError {
        PostgresError(String(cString: PQerrorMessage(handle)), in: sql, isConnectionLost: isLost)
    }
}

/// The result of a statement. Used by one thread.
final class PostgresRows {
    private let result: OpaquePointer

    fileprivate init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// Number of rows that the statement has changed.
    var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Returns the value of a `bigint` in a binary result, which has 8 bytes.
    func integer(_ row: Int, _ column: Int) -> Int64 {
        UnsafeRawPointer(PQgetvalue(result, Int32(row), Int32(column)))
            .loadUnaligned(as: Int64.self).bigEndian
    }

    func text(_ row: Int, _ column: Int) -> String {
        String(cString: PQgetvalue(result, Int32(row), Int32(column)))
    }

    /// Reads an item from the four columns beginning with `column`.
    func item(_ row: Int, from column: Int = 0) -> Item {
        Item(
            key: integer(row, column), group: integer(row, column + 1), score: integer(row, column + 2),
            stamp: integer(row, column + 3))
    }
}
