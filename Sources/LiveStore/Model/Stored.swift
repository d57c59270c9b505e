// `@Stored`, a property wrapper that reads and writes one column of its object's row. An object that is not in a
// store yet keeps its value here. `ordinal` is set by `StoredObject.init` from the class's layout.

/// The part a stored property plays.
public enum StoredRole: Sendable {
    /// Nothing but a value.
    case plain
    /// Identifies the object among those of its class: unique, and not to be changed once the object is stored.
    case primaryKey
    /// Has an index, so that looking for equal values, or for a small range of them, reads those rows only.
    case indexed
}

/// Makes a property of a `StoredObject` subclass part of what is stored.
///
///     final class Item: StoredObject {
///         @Stored(.primaryKey) var id = UUID()
///         @Stored var score = 0
///     }
///
/// Reading the property of a stored object reads the connection's current version; writing it needs a write block.
/// Use on the object's connection only. O(log n) in the rows of the table.
@propertyWrapper
public struct Stored<Value: StorableValue> {
    /// The property's place among the stored ones of its class.
    var ordinal: Int32 = -1
    let role: StoredRole
    var value: Value

    /// A property that plays no part but its own.
    public init(wrappedValue: Value) {
        role = .plain
        value = wrappedValue
    }

    /// A property that plays a part, such as that of the primary key.
    public init(wrappedValue: Value, _ role: StoredRole) {
        self.role = role
        value = wrappedValue
    }

    @available(*, unavailable, message: "@Stored works in subclasses of StoredObject only")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Stored<Value>>
    ) -> Value {
        get {
            let ordinal = Int(owner[keyPath: storage].ordinal)
            if let binding = owner.binding { return binding.read(ordinal) }
            if let trace = owner.trace { trace.note(owner, ordinal) }
            return owner[keyPath: storage].value
        }
        set {
            if let binding = owner.binding {
                binding.write(newValue, Int(owner[keyPath: storage].ordinal))
            } else {
                owner[keyPath: storage].value = newValue
            }
        }
    }
}

/// A `Stored` of any value, as the class layout sees it: by its type and the address of a property.
protocol AnyStored {
    static var columnType: ColumnType { get }
    static var isOptional: Bool { get }
    static func role(at address: UnsafeRawPointer) -> StoredRole
    static func setOrdinal(_ ordinal: Int, at address: UnsafeMutableRawPointer)
    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int)
    /// The class that objects of this property have: those a link or a list of links leads to.
    static var target: StoredObject.Type? { get }
    /// What the elements of a list are; nil for anything else.
    static var element: (any AnyStored.Type)? { get }
}

/// A wrapper whose value leads to other objects, or is kept in other rows.
protocol AnyConnected: AnyStored {
    /// Stores the objects that this property of a plain object leads to, where that has to be done first.
    static func prepareToAdd(at address: UnsafeRawPointer, _ connection: Connection) throws
    /// Stores what can be stored only once the object itself is.
    static func finishAdding(at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int) throws
    /// Lets go of the plain values of an object that is stored for good.
    static func forget(at address: UnsafeMutableRawPointer)
}

extension Stored: AnyStored {
    static var target: StoredObject.Type? { nil }
    static var element: (any AnyStored.Type)? { nil }
    static var columnType: ColumnType { Value._columnType }
    static var isOptional: Bool { Value._isOptional }

    static func role(at address: UnsafeRawPointer) -> StoredRole {
        address.assumingMemoryBound(to: Self.self).pointee.role
    }

    static func setOrdinal(_ ordinal: Int, at address: UnsafeMutableRawPointer) {
        address.assumingMemoryBound(to: Self.self).pointee.ordinal = Int32(ordinal)
    }

    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int) {
        address.assumingMemoryBound(to: Self.self).pointee.value._write(row, column)
    }
}
