// What is the same for all stored properties, of whatever type and wrapper: all that a class layout sees of them.

/// The part a stored property plays.
public enum StoredRole: Sendable {
    /// Nothing but a value.
    case plain
    /// Identifies the object among those of its class: unique, and not to be changed once the object is stored.
    case primaryKey
    /// Has an index, so that looking for equal values, or for a small range of them, reads those rows only.
    case indexed
}

/// Makes the object that a link is to lead to, of what was given for it at a place that an error names.
typealias MakeObject = (_ type: StoredObject.Type, _ value: Any, _ place: String) throws(StoreError) -> StoredObject

/// A `Stored` of any value, as the class layout sees it: by its type and the address of a property.
protocol AnyStored {
    static var columnType: ColumnType { get }
    static var isOptional: Bool { get }
    /// Whether values are `Float`, which are stored as `Double`.
    static var isFloat: Bool { get }
    /// Whether a key path that ends at the property itself has values of this type; over links they may be optional.
    static func isRead(as type: Any.Type) -> Bool
    /// Whether `read` returns what it is given, for values at the ends of the type and some between.
    static func isUnchanged(_ read: (any StorableValue) -> Any) -> Bool
    static func role(at address: UnsafeRawPointer) -> StoredRole
    /// Where in the wrapper its ordinal lies.
    static var ordinalOffset: Int { get }
    static func write(at address: UnsafeRawPointer, _ row: RowBuffer, _ column: Int)
    /// Sets the property of a plain object to a value of unknown type; `place` names it in an error.
    /// - Throws: `invalidValue`.
    static func assign(
        _ value: Any, at address: UnsafeMutableRawPointer, _ place: String, _ make: MakeObject
    ) throws(StoreError)
    /// Where in the wrapper its value lies, if it is 8 bytes that are the column's slot as they are.
    static var slotOffset: Int? { get }
    /// An element of a list whose elements are kept in this wrapper, made of a value of unknown type.
    /// - Throws: `invalidValue`.
    static func element(of value: Any, _ place: String, _ make: MakeObject) throws(StoreError) -> Any
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
    /// - Parameter policy: how what is stored is to be replaced; nil where the object is new.
    static func finishAdding(
        at address: UnsafeRawPointer, _ owner: StoredObject, _ ordinal: Int, replacing policy: UpdatePolicy?) throws
    /// Lets go of the plain values of an object that is stored for good.
    static func forget(at address: UnsafeMutableRawPointer)
}

/// A `LinkingObjects` of any class, as the class layout sees it.
protocol AnyBacklink: Columnless {
    /// The class whose property leads here.
    static var source: StoredObject.Type { get }
    /// The property that leads here, by its place among the stored ones of its class.
    static func ordinal(at address: UnsafeRawPointer) -> Int
}

extension AnyStored {
    static func isRead(as type: Any.Type) -> Bool { true }
    static func isUnchanged(_ read: (any StorableValue) -> Any) -> Bool { true }
    static func role(at address: UnsafeRawPointer) -> StoredRole { .plain }
    static var slotOffset: Int? { nil }
    static var isFloat: Bool { false }
    static var target: StoredObject.Type? { nil }
    static var element: (any AnyStored.Type)? { nil }
}
