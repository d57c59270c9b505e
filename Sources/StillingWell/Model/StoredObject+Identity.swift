// Identity of objects, for sets, dictionaries and `==`, and for user interfaces that keep a list row while its content
// changes.

/// The identity of an object: its row, or the instance itself while it is not stored. Any thread.
public struct ObjectIdentity: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case plain(ObjectIdentifier)
        // By numbers, so that an identity keeps no file open.
        case row(storage: UInt64, table: UInt32, ObjectID)
    }
    private let kind: Kind

    fileprivate init(_ object: StoredObject) {
        kind =
            object.binding.map { .row(storage: $0.connection.core.storage.number, table: $0.table.id, $0.id) }
            ?? .plain(ObjectIdentifier(object))
    }
}

/// Identity of a model that declares `Identifiable`, unless it has a property `id` of its own:
///
///     final class Item: StoredObject, Identifiable { … }
///
/// Not every model is `Identifiable`: with a property `id` of its own, `\.id` in queries would be ambiguous.
extension Identifiable where Self: StoredObject {
    /// Identity of the row: equal for live and frozen objects and on all connections. It changes when a plain object is
    /// added. O(1).
    public var id: ObjectIdentity { ObjectIdentity(self) }
}

extension StoredObject: Hashable {
    /// Returns whether both are the same instance or stand for the same row, both live or both frozen at the same
    /// version. A frozen object differs from the live one, whose values may differ. O(1); reads no row.
    public static func == (left: StoredObject, right: StoredObject) -> Bool {
        left === right || left.identity == right.identity && left.frozenVersion == right.frozenVersion
    }

    /// Hashes the identity, which changes when a plain object is added to a store. Rebuild a set that contains it then.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    private var identity: ObjectIdentity { ObjectIdentity(self) }

    private var frozenVersion: UInt64? { isFrozen ? connection?.version : nil }
}
