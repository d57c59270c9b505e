// Records which objects a write changed, until it has committed.
import StillingWell
import StillingWellSync
import TypedNotifications

/// Records which objects a write adds, changes and deletes. The notification manager reports them after the commit. A
/// cancelled write is not reported. There is one logger per write, on the thread that writes.
///
/// Calls are made by hand or by the conveniences of `Connection`. The report states the final effect of the write. An
/// object that was added and deleted is left out. So are additions of existing objects and deletions that failed or
/// found no object.
///
/// Live queries do not need this. It serves listeners that are called by class and id.
public final class ChangeLogger {
    private let store: Store
    private let write: WriteRecord
    private var entries: [Entry] = []
    private var places: [WriteRecord.Row: Int] = [:]
    /// First error of a note.
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

    /// Notes that an object was added.
    public func didAdd(_ object: StoredObject) { note(object) }

    /// Notes that an object was changed.
    public func didChange(_ object: StoredObject) { note(object, isChanged: true) }

    /// Notes that an object is about to be deleted. A deleted object is not noted.
    public func willDelete(_ object: StoredObject) { note(object) }

    /// Adds an entry for an object that exists, at most one per object.
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

    /// Reports the noted changes if the write was committed.
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
    /// Runs `body` in a write of this connection. After the commit, reports what it logged to the listeners, and
    /// returns when those of place `.poster` have returned.
    /// - Throws: what `write` throws, and what `body` throws; then nothing is reported, unless `body` committed by
    ///   itself or only the flush failed. `StoreError.otherStore` for an object of another store.
    @discardableResult
    public func writeWithNotification<Result>(_ body: (ChangeLogger) throws -> Result) throws -> Result {
        var logger: ChangeLogger?
        defer { logger?.post() }
        return try write { try ChangeLogging.run(self, &logger, body) }
    }

    // MARK: Conveniences

    /// Adds an object and reports it, in a write of its own if there is none. Does nothing if it is stored already.
    /// - Throws: what `add` and `writeWithNotification` throw; `FetchedResultsError.notLogged`.
    public func addWithNotification(_ object: StoredObject) throws {
        try logging { logger in
            try add(object)
            logger.didAdd(object)
        }
    }

    /// Changes an object in a block, in a write of its own if there is none. Reports the object if the block wrote
    /// anything and the object still exists, even if the block throws and the write is committed nevertheless.
    /// - Throws: what `writeWithNotification` and the block throw; `FetchedResultsError.notLogged`.
    public func changeWithNotification<Object: StoredObject>(_ object: Object, _ body: (Object) throws -> Void) throws {
        try logging { logger in
            let countBefore = logger.changeCount
            defer { if logger.changeCount != countBefore { logger.didChange(object) } }
            try body(object)
        }
    }

    /// Deletes an object and reports it, in a write of its own if there is none. Does nothing if it is already deleted.
    /// - Throws: what `delete` and `writeWithNotification` throw; `FetchedResultsError.notLogged`.
    public func deleteWithNotification(_ object: StoredObject) throws {
        try logging { logger in
            logger.willDelete(object)
            try delete(object)
        }
    }

    /// Runs `body` with the logger of the write in progress, or in a write of its own.
    private func logging(_ body: (ChangeLogger) throws -> Void) throws {
        guard isInWrite else { return try writeWithNotification(body) }
        guard let logger = ChangeLogging.logger(self) else { throw FetchedResultsError.notLogged }
        try body(logger)
    }
}

extension Store {
    /// Runs `body` in a write on the calling thread. Reports what it logged after the commit.
    /// - Throws: what `write` throws, and what `body` throws; then nothing is reported, unless `body` committed by
    ///   itself or only the flush failed. `StoreError.otherStore` for an object of another store.
    @discardableResult
    public func writeWithNotification<Result>(_ body: (Connection, ChangeLogger) throws -> Result) throws -> Result {
        var logger: ChangeLogger?
        defer { logger?.post() }
        return try write { connection in try ChangeLogging.run(connection, &logger) { try body(connection, $0) } }
    }
}

/// Finds the logger of the write block in progress.
private enum ChangeLogging {
    @TaskLocal private static var current: Bound?

    // Unchecked because a write block begins and ends on one thread, and tasks that inherit it only compare the
    // connection and its write.
    private struct Bound: @unchecked Sendable {
        let logger: ChangeLogger
        let connection: Connection
    }

    /// Runs `body` with a new logger, inside the write of a connection.
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

    /// Returns the logger of the innermost logged write block, if that is in progress on the connection.
    static func logger(_ connection: Connection) -> ChangeLogger? {
        current.flatMap { $0.connection === connection && $0.logger.isOf(connection) ? $0.logger : nil }
    }
}
