// Which object an object is: for sets, dictionaries and `==`, and for interfaces that keep a row of a list while what it
// shows changes.

/// Which object an object is: the row of a store, or itself while it is stored nowhere. Any thread.
public struct ObjectIdentity: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case plain(ObjectIdentifier)
        // By numbers: whoever keeps an identity keeps no file open.
        case row(storage: UInt64, table: UInt32, ObjectID)
    }
    private let kind: Kind

    fileprivate init(_ object: StoredObject) {
        kind =
            object.binding.map { .row(storage: $0.connection.core.storage.number, table: $0.table.id, $0.id) }
            ?? .plain(ObjectIdentifier(object))
    }
}

/// What a model that says it is `Identifiable` is known by, unless it has a property `id` of its own:
///
///     final class Item: StoredObject, Identifiable { … }
///
/// Not every model is: beside a property `id` of its own, each `\.id` in a query would have two meanings to choose from.
extension Identifiable where Self: StoredObject {
    /// The same for every object that stands for the row, frozen or not, and on whatever connection; another one once a
    /// plain object has been added. O(1).
    public var id: ObjectIdentity { ObjectIdentity(self) }
}

extension StoredObject: Hashable {
    /// Whether both are one object, or stand for the same row: live, or frozen at one version. A frozen object differs from
    /// the live one and from those of other versions, which may have other values. O(1); reads nothing.
    public static func == (left: StoredObject, right: StoredObject) -> Bool {
        left === right || left.identity == right.identity && left.frozenVersion == right.frozenVersion
    }

    /// Changes when a plain object is added to a store, so a set that holds it has to be made anew then.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    private var identity: ObjectIdentity { ObjectIdentity(self) }

    private var frozenVersion: UInt64? { isFrozen ? connection?.version : nil }
}
