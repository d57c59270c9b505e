// Type-erased interfaces of the property wrappers, as class layouts use them.

/// The role of a stored property.
public enum StoredRole: Sendable {
    /// The primary key: unique within the class, and constant once the object is stored.
    case primaryKey
    /// A property with an index, so that queries for equal values or small ranges read only matching rows.
    case indexed
}

/// Makes the object that a link is set to, or that a list gets, from a given value. `place` names the property in
/// errors.
typealias MakeObject = (_ type: StoredObject.Type, _ value: Any, _ place: String) throws(StoreError) -> StoredObject

/// The wrapper of a property of a class. Layouts cast the type of each field to this protocol only, because a failed
/// cast makes the runtime search all conformances of the program.
protocol AnyProperty {
    static var kind: PropertyKind { get }
}

enum PropertyKind {
    case stored(any AnyStored.Type)
    case connected(any AnyConnected.Type)
    case backlink(any AnyBacklink.Type)
    case columnless
}

/// A `Stored`, `Linked` or `Listed` of any value, used with the address of a property.
protocol AnyStored: AnyProperty {
    static var columnType: ColumnType { get }
    static var isOptional: Bool { get }
    /// Whether values are `Float` or `Float?`, which are stored as `Double`.
    static var isFloat: Bool { get }
    /// Whether a key path that ends at this property may have values of `type`. Over links they may be optional.
    static func isRead(as type: Any.Type) -> Bool
    /// Whether `read` returns its argument for each of some sample values of the type.
    static func isUnchanged(_ read: (any StorableValue) -> Any) -> Bool
    static func role(at address: UnsafeRawPointer) -> StoredRole?
    static var ordinalOffset: Int { get }
    /// Writes the value at an address to a row. Not given the address of the wrapper, because the runtime would look up
    /// the wrapper's type at each call.
    static func write(at value: UnsafeRawPointer, _ row: RowBuffer, _ column: Int)
    /// Returns the current value of a property in the form that `assign` takes. nil for a link and for a list of
    /// objects.
    /// - Parameter offset: offset of the property in the object.
    static func value(of owner: StoredObject, at offset: Int) -> (any Sendable)?
    /// Sets the property of an object that is not stored yet to a value of unknown type. `place` names it in an error.
    /// - Throws: `invalidValue`.
    static func assign(
        _ value: Any, at address: UnsafeMutableRawPointer, _ place: String, _ make: MakeObject
    ) throws(StoreError)
    /// Offset of the value, as `write` takes it, within the wrapper.
    static var valueOffset: Int { get }
    /// Whether the value's 8 bytes are the column's slot unchanged.
    static var isSlot: Bool { get }
    /// Converts a value of unknown type to an element of a list whose elements this wrapper stores.
    /// - Throws: `invalidValue`.
    static func element(of value: Any, _ place: String, _ make: MakeObject) throws(StoreError) -> Any
    /// Class of the objects that this link, or list of links, leads to. nil for other properties.
    static var target: StoredObject.Type? { get }
    /// Wrapper of a list's elements. nil for other properties.
    static var element: (any AnyStored.Type)? { get }
}

/// A wrapper whose value is a link or is stored in other rows.
protocol AnyConnected: AnyStored {
    /// Returns the target of a link in an object that is not stored yet, and the declared class of the property.
    static func linked(at address: UnsafeRawPointer) -> (StoredObject, StoredObject.Type)?
    /// Appends all objects that this property keeps alive. Used when an object that the program made is freed.
    static func hold(at address: UnsafeRawPointer, in held: inout [StoredObject])
    /// Stores values that require the object's row to exist, such as list elements and links on cycles.
    /// - Parameter policy: how stored values are replaced. nil if the object is new.
    static func finishAdding(
        at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int, replacing policy: UpdatePolicy?) throws
    /// Releases the values that an object held before it was stored. Called after the write that added it was
    /// committed, and when the object is freed.
    static func forget(at address: UnsafeMutableRawPointer)
}

extension AnyConnected {
    static var kind: PropertyKind { .connected(Self.self) }
}

/// A `LinkingObjects` of any class, as the class layout sees it.
protocol AnyBacklink: AnyProperty {
    static var source: StoredObject.Type { get }
    /// Ordinal of the linking property among the stored properties of its class.
    static func ordinal(at address: UnsafeRawPointer) -> Int
}

extension AnyBacklink {
    static var kind: PropertyKind { .backlink(Self.self) }
}

extension AnyStored {
    static var kind: PropertyKind { .stored(Self.self) }
    static func isRead(as type: Any.Type) -> Bool { true }
    static func isUnchanged(_ read: (any StorableValue) -> Any) -> Bool { true }
    static func role(at address: UnsafeRawPointer) -> StoredRole? { nil }
    static func value(of owner: StoredObject, at offset: Int) -> (any Sendable)? { nil }
    static var valueOffset: Int { 0 }
    static var isSlot: Bool { false }
    static var isFloat: Bool { false }
    static var target: StoredObject.Type? { nil }
    static var element: (any AnyStored.Type)? { nil }
}
