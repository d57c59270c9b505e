// Which object, without being it: what is told across threads.
import StillingWell

/// An object by its class, its store and its identity, for any thread. The identity is the row's, which is never used
/// twice, so that classes without a primary key have one too.
public struct SafeObject<Object: StoredObject>: Sendable, Hashable {
    /// The identity, which means something in its store only.
    public let id: ObjectID
    /// The folder of the store.
    public let storePath: String
}

extension SafeObject {
    /// An object by its identity in a store.
    public init(id: ObjectID, in store: Store) { self.init(id: id, storePath: store.folder) }

    /// A stored object; nil for one that is not stored.
    public init?(_ object: Object) {
        guard let id = object.objectID, let store = object.connection?.store else { return nil }
        self.init(id: id, in: store)
    }

    /// The live object; nil if it has been deleted. On the connection's scheduler. O(log n).
    ///
    /// A connection that stands at an older version than the object reads the newest one from here on.
    /// - Throws: `StoreError.otherStore`, which names both stores; `unknownModel`, `closed`; in a `store.read`
    ///   block that does not see the object yet, `referenceTooNew`.
    public func object(in connection: Connection) throws -> Object? {
        guard connection.store.folder == storePath else {
            throw StoreError.otherStore(path: storePath, used: connection.store.folder)
        }
        return try connection.newestObject(Object.self, withID: id)
    }
}
