// Everything that can go wrong in a store, each with the thing, the place and the remedy in its description.

/// An error of a store. Descriptions are sentences that end in what to do.
public enum StoreError: Error, Sendable, Equatable {
    /// The file or folder cannot be used as a store.
    case cannotOpen(path: String, reason: String)
    /// The stored schema and the models in the configuration disagree.
    case schemaMismatch(table: String, reason: String)
    /// The model class cannot be stored as it is declared.
    case invalidModel(type: String, reason: String)
    /// The model class is not among `Store.Configuration.models`.
    case unknownModel(type: String)
    /// An object with this primary key exists already.
    case duplicatePrimaryKey(table: String, key: String)
    /// A primary key whose encoding is longer than the storage engine's limit.
    case primaryKeyTooLong(table: String, bytes: Int, limit: Int)
    /// The file system is full. Nothing of the transaction was stored; the store stays usable.
    case diskFull(path: String)
    /// The address space reserved for the store is used up.
    case mapFull(limitBytes: Int)
    /// No more snapshots can be open at once.
    case tooManySnapshots(limit: Int)
    /// The storage engine failed in a way none of the other cases names.
    case storage(operation: String, code: Int32, reason: String)
    /// `write` was called inside a write block of the same thread.
    case writeInsideWrite
    /// A change was attempted outside a write block.
    case notInWrite
    /// A write was ended on another thread than it was begun on.
    case writeOnOtherThread
    /// The write lock was not granted in time.
    case writeTimedOut(seconds: Double)
    /// The object's row does not exist any more.
    case invalidatedObject(table: String)
    /// A link was set to an object of another connection.
    case otherConnection(type: String)
    /// `observe` was called on a connection that has nowhere to deliver.
    case noScheduler
    /// `observe` was called on an object inside a write block.
    case observedInWrite
    /// Something that stored objects only can do was asked of an object that is not stored.
    case notStored(type: String)
    /// A token of another store was named in `withoutNotifying`.
    case foreignToken
    /// The text of a query cannot be read. `text` is the line, `line` and `column` count from 1.
    case invalidQuery(text: String, line: Int, column: Int, reason: String)
    /// The store has been closed.
    case closed
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason):
            "cannot open the store at \(path): \(reason)"
        case .schemaMismatch(let table, let reason):
            "the stored table '\(table)' does not fit its model: \(reason)"
        case .invalidModel(let type, let reason):
            "\(type) cannot be stored: \(reason)"
        case .unknownModel(let type):
            "\(type) is not a model of this store: add it to Store.Configuration.models"
        case .duplicatePrimaryKey(let table, let key):
            "'\(table)' has an object with primary key \(key) already: change that one, or add with update: true"
        case .primaryKeyTooLong(let table, let bytes, let limit):
            "a primary key of '\(table)' takes \(bytes) bytes; the limit is \(limit): use a shorter key"
        case .diskFull(let path):
            "the file system of \(path) is full: nothing of this transaction was stored; free some space and retry"
        case .mapFull(let limit):
            "the store has reached its limit of \(limit) bytes: open it with a larger Store.Configuration.mapBytes"
        case .tooManySnapshots(let limit):
            "\(limit) snapshots are open at once: close connections, or release frozen collections, that are not needed"
        case .storage(let operation, let code, let reason):
            "storage failed in \(operation): \(reason) (\(code))"
        case .writeInsideWrite:
            "write was called inside a write block of the same thread: make the change in the outer block"
        case .notInWrite:
            "stored objects change inside a write block only: wrap the change in connection.write { }"
        case .writeOnOtherThread:
            """
            a write ends on the thread that began it: call beginWrite and commitWrite in one block of the queue, or use \
            write { }
            """
        case .writeTimedOut(let seconds):
            "another writer held the write lock for \(seconds) s: retry, or raise the time-out"
        case .invalidatedObject(let table):
            "the object of '\(table)' has been deleted: check isInvalidated before changing it"
        case .otherConnection(let type):
            "a \(type) of another connection cannot be linked to: look it up on this one, by its primary key"
        case .noScheduler:
            """
            this connection has nowhere to deliver to: open it on a run loop (store.connect(on: .runLoop)) or on a \
            serial queue (store.connect(on: .queue(queue))); a plain dispatch queue or a detached task has no run \
            loop, and RunLoopThread makes a thread that has one
            """
        case .observedInWrite:
            "an object is observed outside of write blocks: call observe after the write has been committed"
        case .notStored(let type):
            "an object of \(type) is in no store yet: add it in a write block first"
        case .foreignToken:
            "withoutNotifying names a token of another store: pass tokens of the store that is written to"
        case .invalidQuery(let text, let line, let column, let reason):
            "cannot read the query at \(line):\(column): \(reason)\n\(StoreError.excerpt(text, column: column))"
        case .closed:
            "the store has been closed: open it again"
        }
    }
}
