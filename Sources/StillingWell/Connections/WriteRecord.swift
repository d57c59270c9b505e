// What a write has done to rows, and what became of it: for those who are told of objects one by one once they are
// committed. On the thread that writes.

package struct WriteRecord {
    private let transaction: WriteTransaction

    package struct Row: Hashable, Sendable {
        fileprivate let table: UInt32
        fileprivate let id: UInt64
    }

    fileprivate init(_ transaction: WriteTransaction) { self.transaction = transaction }

    package var isCommitted: Bool { transaction.isCommitted }

    /// Grows with every change.
    package var changeCount: Int { transaction.generation }

    /// Whether this is the write that goes on on a connection.
    package func goesOn(on connection: Connection) -> Bool { connection.transaction === transaction }

    /// Whether an object's row is there. While the write goes on. O(log n).
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
    /// Which row the object stands for; nil for a plain object.
    package var storedRow: WriteRecord.Row? { binding.map { WriteRecord.Row(table: $0.table.id, id: $0.id.rawValue) } }
}

extension Store {
    /// The folder of the data, by which two handles of one store are the same.
    package var folder: String { core.storage.directory }
}

extension Connection {
    /// The object with an identity that somebody has seen, at whatever version; nil once it is deleted. Where this
    /// connection does not have it yet, it reads the newest version from here on.
    /// - Throws: `unknownModel`, `closed`, `referenceTooNew` on a connection that lives for one block.
    package func newestObject<Object: StoredObject>(_ type: Object.Type, withID id: ObjectID) throws -> Object? {
        if let object = try object(type, withID: id) { return object }
        // A write in progress sees the newest rows there are.
        if transaction != nil { return nil }
        try core.checkOpen()
        let newest = try core.storage.openSnapshot()
        guard newest.row(try core.storage.table(of: type), id) != nil else { return nil }
        try readNewest(forVersion: newest.version)
        return try object(type, withID: id)
    }
}
