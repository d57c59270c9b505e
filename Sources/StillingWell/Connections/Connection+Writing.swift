// Writes on a connection: the transaction from its begin to its end, and what may be done in it. The objects' setters
// come here too. On the connection's scheduler.
import StillingWellBasis

extension Connection {
    /// Whether a write block runs on this connection.
    public var isInWrite: Bool { transaction != nil }

    /// Runs `body` holding the store's write lock, and commits what it changed; if it throws, nothing is changed.
    ///
    /// Waits for other writers, in fair turns, and for nothing else; callbacks never run inside it. The changes reach
    /// this connection's observers in a later delivery. One that names tokens returns, where upkeep is far behind, only
    /// when it has caught up: with its commit made and the lock given back.
    /// - Parameters:
    ///   - timeout: seconds to wait for the lock: nil and infinity wait as long as it takes; one that is over already, 0
    ///     or negative, tries once.
    ///   - tokens: those of this store, of any connection, that are not to hear of this commit. What somebody
    ///     else has changed in the same rows, and they have not heard of yet, they are told all the same.
    ///   - body: takes this connection, as a block of `store.write` takes its own.
    /// - Throws: what `body` throws; `writeInsideWrite`, `writeTimedOut`, `invalidTimeout`, `diskFull`, `invalidatedObject`,
    ///   `foreignToken`, and with tokens `tooManySnapshots`.
    @discardableResult
    public func write<Result>(
        timeout: Double? = nil, withoutNotifying tokens: [NotificationToken] = [],
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
        // The block may have ended the write itself.
        if transaction != nil { try commitWrite(withoutNotifying: tokens) }
        return result
    }

    /// The same for a block that needs no word for the connection.
    /// - Throws: what `body` throws, and what `write` with a block that takes the connection does.
    @discardableResult
    public func write<Result>(
        timeout: Double? = nil, withoutNotifying tokens: [NotificationToken] = [], _ body: () throws -> Result
    ) throws -> Result { try write(timeout: timeout, withoutNotifying: tokens) { _ in try body() } }

    /// Takes the store's write lock; `commitWrite` or `cancelWrite` releases it. `write` does both, and costs less.
    ///
    /// The write may end in another block of the connection's queue, or in the actor's code after an `await`. Until it ends, all other
    /// writers wait, of other processes too. If the connection is released before that, or the thread of its run loop ends, the write is
    /// cancelled, and the log says so.
    /// - Throws: `writeInsideWrite`, `writeTimedOut`, `invalidTimeout`, `diskFull`, `noThread`, `closed`.
    public func beginWrite(timeout: Double? = nil) throws { try begin { try beginTransaction(timeout: timeout) } }

    @inline(__always)
    private func begin(_ beginTransaction: () throws -> WriteTransaction) throws {
        checkScheduler()
        if isFrozen { throw StoreError.frozen }
        guard transaction == nil else { throw StoreError.writeInsideWrite }
        transaction = try beginTransaction()
        didBeginWrite()
    }

    /// Commits what was changed since `beginWrite`. If it throws, nothing was changed, and the write is over too.
    /// - Parameter tokens: those of this store that are not to hear of this commit.
    /// - Throws: `notInWrite`, `diskFull`, `foreignToken`, `invalidatedObject`, `writeOnOtherThread`; with tokens
    ///   `tooManySnapshots`.
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

    /// Forgets what was changed since `beginWrite`.
    /// - Throws: `notInWrite`, `writeOnOtherThread`.
    public func cancelWrite() throws {
        checkScheduler()
        _ = try ongoingWrite()
        endWrite(keeping: false)
    }

    // MARK: In a write

    /// Sets a column through `body`. What goes wrong makes the whole write fail, because a setter cannot throw.
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
