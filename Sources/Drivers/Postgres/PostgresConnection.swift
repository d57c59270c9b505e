// libpq, as little of it as the drivers need: one connection, prepared statements, integers in, binary results out, notifications.
// Used by one thread at a time; who owns a connection says how that is kept.
import CPostgres
import Glibc
import StoreDriver

/// What the server, or libpq, has refused.
public struct PostgresError: Error, CustomStringConvertible, Sendable {
    /// Five characters of the SQL standard, such as `40001`; empty where the server did not answer.
    public let sqlState: String
    public let description: String

    init(sqlState: String = "", _ message: String, in statement: String? = nil) {
        self.sqlState = sqlState
        let words = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
        let place = statement.map { " in '\($0.prefix(200))'" } ?? ""
        description = "PostgreSQL\(sqlState.isEmpty ? "" : " (\(sqlState))"): \(words)\(place)"
    }
}

final class PostgresConnection {
    private let handle: OpaquePointer
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
        handle = opened
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle))
            // `deinit` does not run where an initializer throws before everything is set; here all is.
            throw PostgresError(message)
        }
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

    /// Of the server's process that serves this connection.
    var serverProcess: Int32 { PQbackendPID(handle) }
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

    // MARK: Errors

    private func checked(_ result: OpaquePointer?, _ sql: String) throws -> PostgresRows {
        guard let result else { throw failure(sql) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN: return PostgresRows(result)
        default:
            defer { PQclear(result) }
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            throw PostgresError(sqlState: state, String(cString: PQresultErrorMessage(result)), in: sql)
        }
    }

    private func failure(_ sql: String) -> PostgresError {
        PostgresError(String(cString: PQerrorMessage(handle)), in: sql)
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
