// An object at one version, for any thread. Each property access makes an instance of the class bound to the snapshot.

/// An object at the version at which it was frozen. Immutable; any thread. Its properties read like the object's own:
///
///     let frozen = try note.freeze()
///     queue.async { print(frozen.title) }
///
/// A model property that has the name of one of this type's members is reached through `object`.
///
/// Reading a property makes an instance of the class and finds the row: O(log n). To read many properties, take
/// `object` once. A frozen object keeps its version in the file or in memory, so release it when it is no longer
/// needed.
@dynamicMemberLookup
public struct Frozen<Object: StoredObject>: Sendable {
    let pin: FrozenPin
    let table: Table
    /// Id of the row, equal to that of the live object.
    public let objectID: ObjectID

    /// Version at which it was frozen.
    public var version: UInt64 { pin.snapshot.version }

    /// Whether the row did not exist at that version, because the object had been deleted before it was frozen.
    public var isInvalidated: Bool { pin.snapshot.rowOrStop(table, objectID) == nil }

    /// Value of a property, including computed ones. Any thread.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value { object[keyPath: keyPath] }

    /// The object bound to this version. Each call makes a new instance, for use by one thread at a time. Setting a
    /// stored property of it stops the program.
    public var object: Object { FrozenConnection(pin).makeObject(table, objectID) }

    /// Runs `body` with the whole store at this version. Any thread. The connection and its objects must not be used
    /// after the block. They cannot write or observe.
    /// - Throws: what `body` throws.
    public func read<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
        try body(FrozenConnection(pin))
    }

    /// Returns the live object on `connection`, or nil if it was deleted since. On the connection's scheduler.
    ///
    /// If the connection is at an older version, it reads the newest one from here on.
    /// - Throws: `otherStore`, `closed`, `referenceTooNew`, `tooManySnapshots`; `damaged` or `storage` if the row
    ///   cannot be read.
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
    /// Whether the object is bound to one version permanently.
    public var isFrozen: Bool { binding?.connection.isFrozen ?? false }
}

extension LiveObject {
    /// Returns the object as its connection shows it, for any thread. O(1). On the connection's scheduler.
    /// - Throws: `notStored` for an object that is not stored, `freezeInWrite` inside a write block.
    public func freeze(file: String = #fileID, line: Int = #line) throws -> Frozen<Self> {
        guard let binding else { throw StoreError.notStored(type: "\(Self.self)") }
        let pin = try binding.connection.pin(file: file, line: line)
        return Frozen(pin: pin, table: binding.table, objectID: binding.id)
    }
}
