// `@Stored`, a property wrapper that reads and writes one column of its object's row. An object that is not in a
// store yet keeps its value here. `ordinal` is set by `StoredObject.init` from the class's layout.
//
// Going through a key path costs more than all the rest of setting a property. So where the wrapper lies in its object is
// found out once per key path, and what plain objects need is inlined into the program that declares them.

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
    @usableFromInline var value: Value

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

    @inlinable
    public static subscript<Owner: StoredObject>(
        _enclosingInstance owner: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Stored<Value>>
    ) -> Value {
        get {
            let property = property(owner, storage)
            return withExtendedLifetime(owner) {
                owner.isPlain ? property.pointee.value : property.pointee.read(owner)
            }
        }
        set {
            let property = property(owner, storage)
            withExtendedLifetime(owner) {
                if owner.isPlain { property.pointee.value = newValue } else { property.pointee.write(newValue, owner) }
            }
        }
    }

    /// Where the wrapper lies; valid while its owner is referenced.
    @inlinable
    static func property<Owner: StoredObject>(
        _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> UnsafeMutablePointer<Self> {
        (owner.knownPlace(of: storage) ?? findPlace(owner, storage)).assumingMemoryBound(to: Self.self)
    }

    /// The same, by way of the key path.
    @usableFromInline
    static func findPlace<Owner: StoredObject>(
        _ owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> UnsafeMutableRawPointer {
        let place = withUnsafeMutablePointer(to: &owner[keyPath: storage]) { UnsafeMutableRawPointer($0) }
        owner.notePlace(place, of: storage)
        return place
    }

    @usableFromInline
    func read(_ owner: StoredObject) -> Value {
        if let binding = owner.binding { return binding.read(Int(ordinal)) }
        if let trace = owner.trace { trace.note(owner, Int(ordinal)) }
        return value
    }

    @usableFromInline
    mutating func write(_ value: Value, _ owner: StoredObject) {
        if let binding = owner.binding {
            binding.write(value, Int(ordinal))
        } else {
            self.value = value
        }
    }
}

/// A `Stored` of any value, as the class layout sees it: by its type and the address of a property.
protocol AnyStored {
    static var columnType: ColumnType { get }
    static var isOptional: Bool { get }
    static func role(at address: UnsafeRawPointer) -> StoredRole
    /// Where in the wrapper its ordinal lies.
    static var ordinalOffset: Int { get }
    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int)
    /// Where in the wrapper its value lies, if it is 8 bytes that are the column's slot as they are.
    static var slotOffset: Int? { get }
    /// The class that objects of this property have: those a link or a list of links leads to.
    static var target: StoredObject.Type? { get }
    /// What the elements of a list are; nil for anything else.
    static var element: (any AnyStored.Type)? { get }
}

/// A wrapper whose value leads to other objects, or is kept in other rows.
protocol AnyConnected: AnyStored {
    /// What this property of a plain object leads to and has to be stored first, and the class it is declared with.
    static func linked(at address: UnsafeRawPointer) -> (StoredObject, StoredObject.Type)?
    /// Appends all objects that this property of a plain object keeps alive.
    static func hold(at address: UnsafeRawPointer, in held: inout [StoredObject])
    /// Stores what can be stored only once the object itself is.
    static func finishAdding(at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int) throws
    /// Lets go of the plain values of an object that is stored for good.
    static func forget(at address: UnsafeMutableRawPointer)
}

extension AnyStored {
    static var slotOffset: Int? { nil }
}

extension Stored: AnyStored {
    static var ordinalOffset: Int { MemoryLayout<Self>.offset(of: \.ordinal)! }
    static var slotOffset: Int? {
        Value.self == Int.self || Value.self == Double.self ? MemoryLayout<Self>.offset(of: \.value) : nil
    }
    static var target: StoredObject.Type? { nil }
    static var element: (any AnyStored.Type)? { nil }
    static var columnType: ColumnType { Value._columnType }
    static var isOptional: Bool { Value._isOptional }

    static func role(at address: UnsafeRawPointer) -> StoredRole {
        address.assumingMemoryBound(to: Self.self).pointee.role
    }

    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int) {
        address.assumingMemoryBound(to: Self.self).pointee.value._write(row, column)
    }
}
