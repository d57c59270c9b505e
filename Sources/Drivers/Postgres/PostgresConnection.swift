// libpq, as little of it as the drivers need: one connection, prepared statements, integers in, binary results out, notifications.
// Used by one thread at a time; who owns a connection says how that is kept.
import CTidegaugePostgres
import Glibc
import TidegaugeDriver

/// What the server, or libpq, has refused.
public struct PostgresError: Error, CustomStringConvertible, Sendable {
    /// Five characters of the SQL standard, such as `40001`; empty where the server did not answer.
    public let sqlState: String
    /// There is no connection any more, or none could be made; another may be, later.
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
    /// Of the server that serves this connection.
    let serverProcess: Int32
    /// By text.
    private var names: [String: String] = [:]

    /// - Parameter options: by libpq's keyword; a later one of a keyword wins, so that a `dbname` that is a whole
    ///   connection string goes first.
    /// - Throws: `PostgresError`, which holds no password: libpq says none.
    init(_ options: [(String, String)]) throws {
        let (keys, values) = (options.map(\.0), options.map(\.1))
        let opened = Self.withCStrings(keys) { keys in
            Self.withCStrings(values) { values in PQconnectdbParams(keys, values, 1) }
        }
        guard let opened else { throw PostgresError("there is no memory for a connection") }
        (handle, serverProcess) = (opened, PQbackendPID(opened))
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle))
            // `deinit` does not run where an initializer throws before everything is set; here all is.
            throw PostgresError(message, isConnectionLost: true)
        }
        // What the server says by the way, such as why it ends a connection, is in the error of whoever uses it next.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    /// Calls `body` with a null-terminated array.
    static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { pointers in
            // Never empty: it ends with null.
            body(pointers.baseAddress.unsafelyUnwrapped)
        }
    }

    var socket: Int32 { PQsocket(handle) }
    var serverVersion: Int32 { PQserverVersion(handle) }

    // MARK: Statements

    /// Any number of statements whose rows do not matter.
    func execute(_ sql: String) throws { _ = try checked(PQexec(handle, sql), sql) }

    /// Runs one statement, prepared the first time; it waits for the answer.
    func run(_ sql: String, _ values: [Int64] = []) throws -> PostgresRows {
        let name = try prepared(sql)
        return try withBinary(values) { pointers, lengths, formats in
            try checked(PQexecPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1), sql)
        }
    }

    /// Runs statements in one round trip. What follows one that fails is not run.
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
            // Null between statements.
            while let more = PQgetResult(handle) { PQclear(more) }
        }
        PQclear(PQgetResult(handle))
        if let fault { throw fault }
        return rows
    }

    private func prepared(_ sql: String) throws -> String {
        if let known = names[sql] { return known }
        let name = "s\(names.count)"
        _ = try checked(PQprepare(handle, name, sql, 0, nil), sql)
        names[sql] = name
        return name
    }

    /// Forgets a statement that is not asked again.
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

    /// Sends rows, each a line of text in the format of COPY.
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

    /// A transaction; rolled back where `body` throws.
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

    /// Takes in what the socket has; returns how many notifications there are that nobody has seen.
    func takeNotifications() throws -> Int {
        guard PQconsumeInput(handle) == 1 else { throw failure("LISTEN") }
        var count = 0
        while let one = PQnotifies(handle) {
            PQfreemem(one)
            count += 1
        }
        return count
    }

    // MARK: Replication, where the connection is one for that

    /// - Returns: the name of the snapshot at which the slot begins. It ends with the connection's next command, the slot with the
    ///   connection.
    func makeSlot(_ name: String) throws -> String {
        // The words of all versions; 15 has others too.
        let sql = "CREATE_REPLICATION_SLOT \"\(name)\" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT"
        return try checked(PQexec(handle, sql), sql).text(0, 2)
    }

    /// Has the log sent, byte by byte, from where it ends now.
    func startLog() throws {
        let sql = "IDENTIFY_SYSTEM"
        let end = try checked(PQexec(handle, sql), sql).text(0, 2)
        try execute("START_REPLICATION PHYSICAL \(end)")
    }

    /// Takes in what the socket has.
    func takeIn() throws { guard PQconsumeInput(handle) == 1 else { throw failure("replication") } }

    /// What `body` makes of the next message that was taken in; nil where there is no whole one.
    func takeCopied<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        var message: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(handle, &message, 1)
        if length > 0 {
            defer { PQfreemem(message) }
            return try body(UnsafeRawBufferPointer(start: message, count: Int(length)))
        }
        if length == 0 { return nil }
        // The server has ended it, and says why, or there is no server.
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

    /// The server has said that it ends the connection, or makes none: shut down, by an administrator, starting up, full.
    private static func isEnd(_ state: String) -> Bool { state.hasPrefix("57P0") || state.hasPrefix("08") }

    private var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    private func failure(_ sql: String) -> PostgresError {
        PostgresError(String(cString: PQerrorMessage(handle)), in: sql, isConnectionLost: isLost)
    }
}

/// A result, in binary. One thread.
final class PostgresRows {
    private let result: OpaquePointer

    fileprivate init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// Rows that the statement has changed.
    var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Of a `bigint`, which is eight bytes.
    func integer(_ row: Int, _ column: Int) -> Int64 {
        UnsafeRawPointer(PQgetvalue(result, Int32(row), Int32(column)))
            .loadUnaligned(as: Int64.self).bigEndian
    }

    func text(_ row: Int, _ column: Int) -> String {
        String(cString: PQgetvalue(result, Int32(row), Int32(column)))
    }

    /// Of the four columns from `column` on.
    func item(_ row: Int, from column: Int = 0) -> Item {
        Item(
            key: integer(row, column), group: integer(row, column + 1), score: integer(row, column + 2),
            stamp: integer(row, column + 3))
    }
}
