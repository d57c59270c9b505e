// Which object, without being it: what is told across threads.
import LiveStore

/// An object by its class and identity, for any thread. The identity is the row's, which is never used twice, so that
/// classes without a primary key have one too.
public struct SafeObject<Object: StoredObject>: Sendable, Hashable {
    /// The identity.
    public let id: ObjectID

    /// An object by its identity.
    public init(id: ObjectID) { self.id = id }

    /// A stored object; nil for one that is not stored.
    public init?(_ object: Object) {
        guard let id = object.objectID else { return nil }
        self.id = id
    }

    /// The live object; nil if it is not in the store, or not any more. On the connection's scheduler. O(log n).
    /// - Throws: `unknownModel`.
    public func object(in connection: Connection) throws -> Object? { try connection.object(Object.self, withID: id) }
}
