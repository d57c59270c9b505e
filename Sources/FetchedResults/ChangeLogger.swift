// What a connection was told of while it wrote, until it has committed. On the connection's scheduler.
import LiveStore
import TracedSync
import TypedNotifications

/// Notes which objects a write adds, changes and deletes, by hand or by the conveniences of `Connection`, and has the
/// notification manager tell them once they are committed; of a write that is cancelled nothing is told. One per
/// connection, on its scheduler.
///
/// Live queries need none of this: they see every commit. It is for code that wants to be told synchronously, by class
/// and identity.
public final class ChangeLogger {
    private let store: Store
    /// In the order of their first note; nil for one that came and went.
    private var entries: [LoggedObject?] = []
    /// Where each object's entry is.
    private var places: [Key: Int] = [:]

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let id: ObjectID
    }

    init(_ store: Store) { self.store = store }

    /// An object was added.
    public func didAdd(_ object: StoredObject) { note(object, .added) }

    /// An object was changed.
    public func didChange(_ object: StoredObject) { note(object, .changed) }

    /// An object is about to be deleted: afterwards it has no identity any more.
    public func willDelete(_ object: StoredObject) { note(object, .deleted) }

    /// One entry per object: what the whole write did to it. O(1).
    private func note(_ object: StoredObject, _ change: LoggedObject.Change) {
        guard let id = object.objectID else { return }
        let key = Key(type: ObjectIdentifier(Swift.type(of: object)), id: id)
        guard let place = places[key] else {
            places[key] = entries.count
            return entries.append(LoggedObject(type: key.type, id: id, change: change))
        }
        switch (entries[place]?.change, change) {
        case (.added, .deleted):
            entries[place] = nil
            places[key] = nil
        case (.changed, .deleted): entries[place]?.change = .deleted
        default: break
        }
    }

    /// Tells what was noted, once it is committed.
    func post() {
        let noted = entries.compactMap(\.self)
        entries = []
        places = [:]
        if noted.isEmpty { return }
        let changes = EntityChanges(path: store.configuration.path, storePath: store.folder, entries: noted)
        NotificationManager.shared.center.post(changes, by: self)
    }
}

extension Connection {
    /// Runs `body` in a write of this connection and, once it is committed, has what it logged told to listeners, before
    /// returning. Waits for them.
    /// - Throws: what `write` throws, and what `body` throws; then nothing is told.
    @discardableResult
    public func writeWithNotification<Result>(_ body: (ChangeLogger) throws -> Result) throws -> Result {
        let logger = ChangeLogger(store)
        let result = try write { try ChangeLogging.with(logger, self) { try body(logger) } }
        logger.post()
        return result
    }

    // MARK: Conveniences

    /// Adds an object, in a write of its own if there is none, and has it told.
    /// - Throws: as `add` and `write`; `FetchedResultsError.notLogged`.
    public func addWithNotification(_ object: StoredObject) throws {
        try logging { logger in
            try add(object)
            logger.didAdd(object)
        }
    }

    /// Changes an object through a block, in a write of its own if there is none, and has it told.
    /// - Throws: as `write`, and what the block throws; `FetchedResultsError.notLogged`.
    public func changeWithNotification<Object: StoredObject>(
        _ object: Object, _ body: (Object) throws -> Void
    ) throws {
        try logging { logger in
            try body(object)
            logger.didChange(object)
        }
    }

    /// Deletes an object, in a write of its own if there is none, and has it told.
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
        let logger = ChangeLogger(self)
        let result = try write { connection in
            try ChangeLogging.with(logger, connection) { try body(connection, logger) }
        }
        logger.post()
        return result
    }
}

/// Which logger belongs to the write that goes on, on this thread: a write begins and ends on one.
private enum ChangeLogging {
    @TaskLocal private static var current: Bound?

    private struct Bound: @unchecked Sendable {
        let logger: ChangeLogger
        let connection: Connection
    }

    static func with<Result>(
        _ logger: ChangeLogger, _ connection: Connection, _ body: () throws -> Result
    ) rethrows -> Result {
        try $current.withValue(Bound(logger: logger, connection: connection), operation: body)
    }

    static func logger(_ connection: Connection) -> ChangeLogger? {
        current.flatMap { $0.connection === connection ? $0.logger : nil }
    }
}
