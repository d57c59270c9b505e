// An object as it was at one version, for any thread. It is a handle: the model's own properties are read through an
// instance of the class that is made for each access and is bound to the snapshot.

/// An object as it was when it was frozen. Immutable, for any thread; its properties read like the object's own:
///
///     let frozen = try note.freeze()
///     queue.async { print(frozen.title) }
///
/// A property of the model that is named as one of this type's own is reached through `object`.
///
/// Reading a property makes an instance of the class and finds the row: O(log n). To read many properties of one
/// object, take `object` once. A frozen object keeps its version in the file: let go of it when it is not needed.
@dynamicMemberLookup
public struct Frozen<Object: StoredObject>: Sendable {
    let pin: FrozenPin
    let table: Table
    /// The identity of the row; the same as that of the live object.
    public let objectID: ObjectID

    /// The version at which it was frozen.
    public var version: UInt64 { pin.snapshot.version }

    /// Whether there was no such row at that version: the object had been deleted when it was frozen.
    public var isInvalidated: Bool { pin.snapshot.rowOrStop(table, objectID) == nil }

    /// A property of the object, computed ones included. Any thread.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value { object[keyPath: keyPath] }

    /// The object itself, bound to this version: a new instance at each call, to be used by one thread at a time.
    /// Writing to it is an error.
    public var object: Object { FrozenConnection(pin).makeObject(table, objectID) }

    /// Asks the whole store as it was at this version: queries, lists, other classes. Any thread; the connection, and what it gives,
    /// are for the block alone, which can neither write nor observe. A query is evaluated at each call: O(rows of its table), or what
    /// its index leaves of them.
    /// - Throws: what `body` throws.
    public func read<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(FrozenConnection(pin))
    }

    /// The live object on `connection`; nil if it has been deleted since. On the connection's scheduler.
    ///
    /// A connection that stands at an older version reads the newest one from here on.
    /// - Throws: `otherStore`, `closed`, `referenceTooNew`.
    public func thaw(on connection: Connection) throws -> Object? {
        try connection.resolve(pin.snapshot.storage, path: pin.store.configuration.path, table, objectID, version)
    }
}

extension Frozen: Hashable {
    public static func == (left: Frozen, right: Frozen) -> Bool {
        left.objectID == right.objectID && left.version == right.version && left.table.id == right.table.id
            && left.pin.snapshot.storage === right.pin.snapshot.storage
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(objectID)
        hasher.combine(version)
    }
}

extension StoredObject {
    /// Whether the object is bound to one version for good.
    public var isFrozen: Bool { binding?.connection.isFrozen ?? false }
}

extension LiveObject {
    /// The object as its connection shows it now, for any thread. O(1). On the connection's scheduler.
    /// - Throws: `notStored` for a plain object, `freezeInWrite` inside a write block.
    public func freeze(file: String = #fileID, line: Int = #line) throws -> Frozen<Self> {
        guard let binding else { throw StoreError.notStored(type: "\(Self.self)") }
        let pin = try binding.connection.pin(file: file, line: line)
        return Frozen(pin: pin, table: binding.table, objectID: binding.id)
    }
}
