// Sendable references to objects.
import StillingWell

/// A reference to an object by class, store and id, for any thread. The id is the row's, which no other object of the
/// class gets later, so that no primary key is needed.
public struct SafeObject<Object: StoredObject>: Sendable, Hashable {
    /// Id of the object, valid for its class and store only.
    public let id: ObjectID
    /// Folder of the store.
    public let storePath: String
}

extension SafeObject {
    /// Makes a reference from an id in a store.
    public init(id: ObjectID, in store: Store) { self.init(id: id, storePath: store.folder) }

    /// Makes a reference to an object. Returns nil if it is not stored.
    public init?(_ object: Object) {
        guard let id = object.objectID, let store = object.connection?.store else { return nil }
        self.init(id: id, in: store)
    }

    /// Returns the live object, or nil if it was deleted. On the connection's scheduler. O(log n).
    ///
    /// If the connection's version lacks the object and the newest version has it, a live connection reads properties
    /// at the newest version from here on.
    /// - Throws: `StoreError.otherStore`, which names both stores; errors of `Connection.newestObject`;
    ///   `referenceTooNew` if the version of a `store.read` block or a frozen value lacks the object.
    public func object(in connection: Connection) throws -> Object? {
        guard connection.store.folder == storePath else {
            throw StoreError.otherStore(path: storePath, used: connection.store.folder)
        }
        return try connection.newestObject(Object.self, withID: id)
    }
}
