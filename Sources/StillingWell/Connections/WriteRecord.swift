// The row changes and the outcome of a write, for code that reports objects one by one after the commit. Used where the
// connection of the write is used.

package struct WriteRecord {
    private let transaction: WriteTransaction

    package struct Row: Hashable, Sendable {
        fileprivate let table: UInt32
        fileprivate let id: UInt64
    }

    fileprivate init(_ transaction: WriteTransaction) { self.transaction = transaction }

    package var isCommitted: Bool { transaction.isCommitted }

    /// Counter that increases with every change.
    package var changeCount: Int { transaction.generation }

    /// Whether this write is in progress on `connection`.
    package func goesOn(on connection: Connection) -> Bool { connection.transaction === transaction }

    /// Whether an object's row exists. During the write. O(log n).
    package func contains(_ object: StoredObject) -> Bool {
        object.binding.map { transaction.row($0.table, $0.id) != nil } ?? false
    }

    /// Calls `body` with each row that was added or deleted, in order. O(changes).
    package func forEachAdditionOrDeletion(_ body: (Row, _ isAddition: Bool) -> Void) {
        for entry in transaction.entries where entry.operation != LogEntry.Operation.update.rawValue {
            let isAddition = entry.operation == LogEntry.Operation.insert.rawValue
            body(Row(table: entry.table, id: entry.id), isAddition)
        }
    }
}

extension Connection {
    package var writeRecord: WriteRecord? { transaction.map { WriteRecord($0) } }
}

extension StoredObject {
    /// Row that the object stands for. nil for an object that is not stored.
    package var storedRow: WriteRecord.Row? { binding.map { WriteRecord.Row(table: $0.table.id, id: $0.id.rawValue) } }
}

extension Store {
    /// Folder of the data, which identifies the store.
    package var folder: String { core.storage.directory }
}

extension Connection {
    /// Returns the object with an id seen at any version, or nil if neither this connection's version nor the newest
    /// one has it. If only the newest has it, the connection reads the newest version from here on.
    /// - Throws: errors of `object(_:withID:)`, `checkOpen`, `openSnapshot`, `checkReads` and `readNewest`.
    package func newestObject<Object: StoredObject>(_ type: Object.Type, withID id: ObjectID) throws -> Object? {
        if let object = try object(type, withID: id) { return object }
        // A write in progress already reads the newest rows.
        if transaction != nil { return nil }
        try core.checkOpen()
        let newest = try core.storage.openSnapshot()
        guard newest.row(try core.storage.table(of: type), id) != nil else {
            try newest.checkReads()
            return nil
        }
        try readNewest(forVersion: newest.version)
        return try object(type, withID: id)
    }
}
