// Types of list elements: storable values, and objects by links. Underscored requirements are internal to the store.
import Foundation

/// A type of elements of a `List`: the types of stored properties, and subclasses of `StoredObject`.
public protocol ListElement {
    /// Wrapper whose column format stores an element.
    static var _elementWrapper: Any.Type { get }
    /// Returns the element in a column of a row, for `connection`. `table` is the id of the row's table.
    static func _element(_ row: _RowReader, _ column: Int, _ connection: Connection, _ table: UInt32) -> Self
    /// Prepares the element for storing. Adds an object that is not stored.
    /// - Returns: a function that writes the element to a row.
    func _prepared(_ connection: Connection) throws -> (_RowBuffer, Int) -> Void
}

extension ListElement {
    static var wrapper: any AnyStored.Type { _elementWrapper as! any AnyStored.Type }
}

extension ListElement where Self: StorableValue {
    public static var _elementWrapper: Any.Type { Stored<Self>.self }
    public static func _element(_ row: _RowReader, _ column: Int, _ connection: Connection, _ table: UInt32) -> Self {
        do throws(UnknownValue) {
            return try _read(row, column)
        } catch {
            return connection.goOn(after: error, in: connection.core.storage.tablesByID[table]?.schema.name ?? "a list")
        }
    }
    public func _prepared(_: Connection) throws -> (_RowBuffer, Int) -> Void { { _write($0, $1) } }
}

extension Int: ListElement {}
extension Double: ListElement {}
extension Bool: ListElement {}
extension String: ListElement {}
extension Date: ListElement {}
extension Data: ListElement {}
extension UUID: ListElement {}
extension Optional: ListElement where Wrapped: StorableValue {}

extension StoredObject: ListElement {}

// Not in the class itself: there `Self` would be the declaring class in generic types.
extension ListElement where Self: StoredObject {
    public static var _elementWrapper: Any.Type { Linked<Self>.self }

    public static func _element(_ row: _RowReader, _ column: Int, _ connection: Connection, _: UInt32) -> Self {
        connection.makeObject(Self.self, ObjectID(rawValue: row.slot(column)))
    }

    public func _prepared(_ connection: Connection) throws -> (_RowBuffer, Int) -> Void {
        let id = try connection.resolve(self, as: Self.self)
        return { $0.setSlot($1, id.rawValue) }
    }
}
