// A writer: one connection, used by the writer's thread. If the connection is lost during a commit, the commit may
// have been made. The next attempt queries the server for it before it is made again.
import TidegaugeDriver

final class PostgresWriter: StoreWriter {
    private static let token = " RETURNING pg_current_xact_id()::text::bigint"

    private let schema: PostgresSchema
    private let processes: ServerProcesses
    private let batcher: NotifyBatcher?
    /// Nil after it was lost.
    private var connection: PostgresConnection?
    /// Whether the outcome of the last commit is unknown, because the connection was lost in the middle of it.
    private var isInDoubt = false
    private var lastToken: Int64 = 0

    init(_ schema: PostgresSchema, _ processes: ServerProcesses, _ batcher: NotifyBatcher?) throws {
        (self.schema, self.processes, self.batcher) = (schema, processes, batcher)
        _ = try connected()
    }

    deinit { if let connection { processes.end(connection.serverProcess) } }

    private func connected() throws -> PostgresConnection {
        if let connection { return connection }
        let new = try schema.connect(as: ServerProcesses.writerName)
        processes.add(new.serverProcess, .writer)
        connection = new
        return new
    }

    /// Commits the changes in one transaction. It waits for another writer if both change the same row.
    /// - Throws: `MissingItem` or `PostgresError`. If the latter reports a lost connection, `commit` may be called
    ///   again with the same changes.
    func commit(_ changes: UnsafeBufferPointer<Change>, locked: () -> Void) throws -> Int64? {
        do {
            let connection = try connected()
            if isInDoubt {
                let made = try token(ofCommitted: changes, connection)
                isInDoubt = false
                if let made { return made }
            }
            isInDoubt = true
            let made = try make(changes, connection, locked)
            isInDoubt = false
            lastToken = made ?? lastToken
            batcher?.note()
            return made
        } catch let error as PostgresError where error.isConnectionLost {
            if let connection { processes.end(connection.serverProcess) }
            connection = nil
            throw error
        } catch {
            isInDoubt = false
            throw error
        }
    }

    private func make(
        _ changes: UnsafeBufferPointer<Change>, _ connection: PostgresConnection, _ locked: () -> Void
    ) throws -> Int64? {
        if changes.count == 1 {
            locked()
            let (sql, values) = PostgresSchema.statement(changes[0])
            let rows = try connection.run(sql + Self.token, values)
            guard rows.count == 1 else { throw MissingItem(key: changes[0].item.key) }
            return rows.integer(0, 0)
        }
        return try connection.transaction {
            locked()
            guard !changes.isEmpty else { return nil }
            let rows = try connection.pipeline(
                changes.map { change in
                    let (sql, values) = PostgresSchema.statement(change)
                    return (sql + Self.token, values)
                })
            for (change, row) in zip(changes, rows) where row.count == 0 { throw MissingItem(key: change.item.key) }
            return rows[0].integer(0, 0)
        }
    }

    /// Finds the transaction that made the changes: the one that wrote the row of the first change that is not a
    /// deletion, if the row has that change's stamp. Each commit writes its own stamp (`Item.stamp`).
    /// - Returns: the transaction's number. Nil if there is no such row, as after a commit that was not made, or if
    ///   there are no changes.
    /// - Throws: `PostgresError` if the query fails, or if all changes are deletions, which leave no row to find.
    private func token(ofCommitted changes: UnsafeBufferPointer<Change>, _ connection: PostgresConnection) throws
        -> Int64?
    {
        guard let change = changes.first(where: { $0.operation != .delete }) else {
            if changes.isEmpty { return nil }
            throw PostgresError(
                "the connection was lost while rows were deleted: nothing is left that says whether they were, and by which transaction"
            )
        }
        let rows = try connection.run(
            "SELECT xmin::text::bigint FROM item WHERE key = $1::bigint AND stamp = $2::bigint",
            [change.item.key, change.item.stamp])
        guard rows.count == 1 else { return nil }
        batcher?.note()
        return StreamedChange.widened(UInt32(truncatingIfNeeded: rows.integer(0, 0)), near: lastToken)
    }
}
