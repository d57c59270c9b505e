// Writes on a connection, from beginning to commit or cancellation. Setters of objects call `update`. On the
// connection's scheduler.
import StillingWellBasis

extension Connection {
    /// Whether a write is open on this connection: a block of `write` runs, or `beginWrite` was called and the write
    /// has not ended.
    public var isInWrite: Bool { transaction != nil }

    /// Runs `body` while holding the store's write lock and commits its changes. If `body` throws, changes that it has
    /// not committed itself are discarded.
    ///
    /// Waits for other writers; the lock is fair. This connection delivers nothing inside the block. Its observers of
    /// collections, objects and the store are told in a later delivery. With `tokens`, the call may return later if the
    /// store's upkeep thread, which keeps query results current, is far behind. The commit is done and the lock
    /// released by then.
    /// - Parameters:
    ///   - timeout: time to wait for the lock. nil waits without limit; 0 and negative values try once.
    ///   - tokens: observers of this store, on any connection, that are not notified of this commit. They are still
    ///     notified of other writers' changes in the same rows that they have not been told of yet.
    ///   - body: receives this connection.
    /// - Throws: what `body` throws; what `beginWrite` throws, except `noThread`; what `commitWrite` throws, except
    ///   `notInWrite` and `writeOnOtherThread`.
    @discardableResult
    public func write<Result>(
        timeout: Duration? = nil, withoutNotifying tokens: [NotificationToken] = [],
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        try begin { try core.beginWrite(timeout: timeout) }
        let result: Result
        do {
            result = try body(self)
        } catch {
            let cause = transaction?.cause(of: error) ?? error
            if transaction != nil { endWrite(keeping: false) }
            throw cause
        }
        // The block may have committed or cancelled the write itself.
        if transaction != nil { try commitWrite(withoutNotifying: tokens) }
        return result
    }

    /// Same as `write(timeout:withoutNotifying:_:)`, for a block that does not take the connection.
    /// - Throws: what `write` with a block that takes the connection throws.
    @discardableResult
    public func write<Result>(
        timeout: Duration? = nil, withoutNotifying tokens: [NotificationToken] = [], _ body: () throws -> Result
    ) throws -> Result { try write(timeout: timeout, withoutNotifying: tokens) { _ in try body() } }

    /// Takes the store's write lock. `commitWrite` or `cancelWrite` releases it. `write` does both at lower cost.
    ///
    /// The write may end in another block of the connection's queue, or in the actor's code after an `await`. Until it
    /// ends, all other writers wait, including those of other processes. If the connection is released before that, or
    /// the thread of its run loop ends, the write is cancelled and logged.
    /// - Throws: `writeInsideWrite`, `writeTimedOut`, `frozen`, `closed`, `openedBeforeFork`, `noThread`, `diskFull`;
    ///   `replaced` if the store's files are no longer at its path; `cannotOpen` if the path cannot be checked;
    ///   `damaged` or `storage` if the file cannot be read or written; `tooManySnapshots` if a flush needs one.
    public func beginWrite(timeout: Duration? = nil) throws { try begin { try beginTransaction(timeout: timeout) } }

    @inline(__always)
    private func begin(_ beginTransaction: () throws -> WriteTransaction) throws {
        checkScheduler()
        if isFrozen { throw StoreError.frozen }
        guard transaction == nil else { throw StoreError.writeInsideWrite }
        transaction = try beginTransaction()
        didBeginWrite()
    }

    /// Commits the changes since `beginWrite`. If it throws, nothing was changed, except if a flush failed. The write
    /// has ended, unless it throws `notInWrite`, `writeOnOtherThread` or `writeInsideWrite`.
    /// - Parameter tokens: observers of this store that are not notified of this commit.
    /// - Throws: `notInWrite`, `writeOnOtherThread`; `writeInsideWrite` in a block whose commit is shared with other
    ///   asynchronous writes. The first error that the write met where it could not be thrown, such as
    ///   `invalidatedObject` of a property that was set. `valueTooLong`, `diskFull`, `mapFull`; `damaged` or `storage`
    ///   if the file cannot be read or written; with tokens `foreignToken` and `tooManySnapshots`. If the flush after
    ///   the commit fails: `storage` with the operation `flush`, `replaced`, `cannotOpen` or `tooManySnapshots`. The
    ///   commit is then visible, but may be lost when the store is opened again.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        checkScheduler()
        let transaction = try ongoingWrite()
        do {
            try commit(transaction, withoutNotifying: tokens)
        } catch {
            endWrite(keeping: false)
            throw error
        }
        endWrite(keeping: true)
        if let failure = transaction.flushFailure { throw failure }
    }

    /// Discards the changes since `beginWrite`.
    /// - Throws: `notInWrite`, `writeOnOtherThread`; `writeInsideWrite` as `commitWrite`.
    public func cancelWrite() throws {
        checkScheduler()
        _ = try ongoingWrite()
        endWrite(keeping: false)
    }

    // MARK: In a write

    /// Sets a column through `body`. An error makes the whole write fail, because a setter cannot throw.
    func update(_ table: Table, _ id: ObjectID, _ column: Int, _ body: (RowBuffer) -> Void) {
        checkScheduler()
        guard let transaction else { stopProgram("\(isFrozen ? StoreError.frozen : .notInWrite)") }
        if column == table.schema.primaryKey {
            let name = "\(table.schema.name).\(table.schema.columns[column].name)"
            stopProgram("\(name) is the primary key of a stored object: add a new object instead")
        }
        set(table, id, column, transaction, body)
    }

    func noteOwnChange(_ table: Table, _ id: ObjectID, _ operation: LogEntry.Operation) {
        noteOwnChange(LogEntry(table: table.id, operation, id: id.rawValue))
    }

    func failWrite(_ error: any Error) {
        guard let transaction else { stopProgram("\(StoreError.notInWrite)") }
        let other = StoreError.storage(operation: "write", code: 0, reason: "\(error)")
        transaction.fail(error as? StoreError ?? other)
    }
}
