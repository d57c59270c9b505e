// What a connection was told of while it wrote, until it has committed. On the connection's scheduler.
import StillingWell
import StillingWellSync
import TypedNotifications

/// Notes which objects a write adds, changes and deletes, by hand or by the conveniences of `Connection`, and has the
/// notification manager tell them once they are committed; of a write that is cancelled nothing is told. One per write, on
/// the thread that writes.
///
/// What is told of an object that was noted is what the write has done to it in the end: nothing of one that came and went,
/// no addition of one that was there already, no deletion of one that was gone, or whose deletion failed.
///
/// Live queries need none of this: they see every commit. It is for code that wants to be told synchronously, by class
/// and identity.
public final class ChangeLogger {
    private let store: Store
    private let write: WriteRecord
    private var entries: [Entry] = []
    private var places: [WriteRecord.Row: Int] = [:]
    /// What was wrong with a note first.
    fileprivate var failure: StoreError?

    private struct Entry {
        let type: ObjectIdentifier
        let id: ObjectID
        var isChanged = false
        var isAdded = false
        var isDeleted = false

        var change: LoggedObject.Change? {
            switch (isAdded, isDeleted) {
            case (true, true): nil
            case (true, false): .added
            case (false, true): .deleted
            case (false, false): isChanged ? .changed : nil
            }
        }
    }

    init(_ store: Store, _ write: WriteRecord) {
        self.store = store
        self.write = write
    }

    /// An object was added.
    public func didAdd(_ object: StoredObject) { note(object) }

    /// An object was changed.
    public func didChange(_ object: StoredObject) { note(object, isChanged: true) }

    /// An object is about to be deleted: afterwards it has no identity any more.
    public func willDelete(_ object: StoredObject) { note(object) }

    /// One entry per object that is there. O(log n).
    private func note(_ object: StoredObject, isChanged: Bool = false) {
        guard let row = object.storedRow, let id = object.objectID, let connection = object.connection else { return }
        guard connection.store.folder == store.folder else {
            if failure == nil { failure = .otherStore(path: connection.store.folder, used: store.folder) }
            return
        }
        if let place = places[row] {
            if isChanged { entries[place].isChanged = true }
        } else if write.contains(object) {
            places[row] = entries.count
            entries.append(Entry(type: ObjectIdentifier(Swift.type(of: object)), id: id, isChanged: isChanged))
        }
    }

    func isOf(_ connection: Connection) -> Bool { write.goesOn(on: connection) }

    var changeCount: Int { write.changeCount }

    /// Tells what was noted, if it is committed. O(changes of the write).
    func post() {
        guard write.isCommitted, !entries.isEmpty else { return }
        write.forEachAdditionOrDeletion { row, isAddition in
            guard let place = places[row] else { return }
            if isAddition { entries[place].isAdded = true } else { entries[place].isDeleted = true }
        }
        let told = entries.compactMap { entry in
            entry.change.map { LoggedObject(type: entry.type, id: entry.id, change: $0) }
        }
        if told.isEmpty { return }
        let changes = EntityChanges(path: store.configuration.path, storePath: store.folder, entries: told)
        NotificationManager.shared.center.post(changes, by: self)
    }
}

extension Connection {
    /// Runs `body` in a write of this connection and, once it is committed, has what it logged told to listeners, before
    /// returning. Waits for them.
    /// - Throws: what `write` throws, and what `body` throws; then nothing is told, unless `body` has committed by itself.
    ///   `StoreError.otherStore` for an object of another store.
    @discardableResult
    public func writeWithNotification<Result>(_ body: (ChangeLogger) throws -> Result) throws -> Result {
        var logger: ChangeLogger?
        defer { logger?.post() }
        return try write { try ChangeLogging.run(self, &logger, body) }
    }

    // MARK: Conveniences

    /// Adds an object, in a write of its own if there is none, and has it told; one that is stored already is left alone.
    /// - Throws: as `add` and `write`; `FetchedResultsError.notLogged`.
    public func addWithNotification(_ object: StoredObject) throws {
        try logging { logger in
            try add(object)
            logger.didAdd(object)
        }
    }

    /// Changes an object through a block, in a write of its own if there is none, and has it told if the block writes
    /// anything: where it throws half-way and the write is committed all the same, too.
    /// - Throws: as `write`, and what the block throws; `FetchedResultsError.notLogged`.
    public func changeWithNotification<Object: StoredObject>(_ object: Object, _ body: (Object) throws -> Void) throws {
        try logging { logger in
            let countBefore = logger.changeCount
            defer { if logger.changeCount != countBefore { logger.didChange(object) } }
            try body(object)
        }
    }

    /// Deletes an object, in a write of its own if there is none, and has it told; one that is gone is left alone.
    /// - Throws: as `delete` and `write`; `FetchedResultsError.notLogged`.
    public func deleteWithNotification(_ object: StoredObject) throws {
        try logging { logger in
            logger.willDelete(object)
            try delete(object)
        }
    }

    /// In the write that goes on, with its logger, or in one of its own.
    private func logging(_ body: (ChangeLogger) throws -> Void) throws {
        guard isInWrite else { return try writeWithNotification(body) }
        guard let logger = ChangeLogging.logger(self) else { throw FetchedResultsError.notLogged }
        try body(logger)
    }
}

extension Store {
    /// Runs `body` in a write, on the calling thread, and has what it logged told once it is committed.
    /// - Throws: what `write` throws, and what `body` throws; then nothing is told.
    @discardableResult
    public func writeWithNotification<Result>(_ body: (Connection, ChangeLogger) throws -> Result) throws -> Result {
        var logger: ChangeLogger?
        defer { logger?.post() }
        return try write { connection in try ChangeLogging.run(connection, &logger) { try body(connection, $0) } }
    }
}

/// Which logger belongs to the write that goes on, on this thread: a write begins and ends on one.
private enum ChangeLogging {
    @TaskLocal private static var current: Bound?

    // Unchecked because a write begins and ends on one thread, and tasks that inherit this one compare the connection alone.
    private struct Bound: @unchecked Sendable {
        let logger: ChangeLogger
        let connection: Connection
    }

    /// Runs what is in the write of a connection, with a logger of its own.
    static func run<Result>(
        _ connection: Connection, _ logger: inout ChangeLogger?, _ body: (ChangeLogger) throws -> Result
    ) throws -> Result {
        guard let write = connection.writeRecord else { throw StoreError.notInWrite }
        let new = ChangeLogger(connection.store, write)
        logger = new
        let result = try $current.withValue(Bound(logger: new, connection: connection)) { try body(new) }
        if let failure = new.failure { throw failure }
        return result
    }

    /// The logger of the write that goes on on a connection; of one that was begun by hand there is none.
    static func logger(_ connection: Connection) -> ChangeLogger? {
        current.flatMap { $0.connection === connection && $0.logger.isOf(connection) ? $0.logger : nil }
    }
}
