// Property types that are stored as another type: enumerations, custom types, and number types without a column type of
// their own. The engine sees the stored value only.
import StillingWellBasis

/// A type for properties, optionals and list elements whose values are stored as values of another type. An enumeration
/// with raw values only declares the conformance. Other types implement it:
///
///     enum Priority: Int, MappedValue { case low, normal, high }
///
///     struct Celsius: MappedValue {
///         var degrees: Double
///         init(stored: Double) { degrees = stored }
///         var stored: Double { degrees }
///     }
///
/// Filters, orders, indexes, primary keys and text queries compare stored values. `<` and `sorted` use the stored
/// value's order, not the type's `Comparable`; text is ordered by its bytes. Equal values should be stored equally,
/// different ones differently.
///
/// The file may contain a value for which `init(stored:)` returns nil, for example one from a newer program. Reading it
/// makes the surrounding `store.read` or write block throw `unknownValue`. Elsewhere the process ends with that
/// message. So it does inside a block if the value is a list element, minimum, maximum or section key, and the type has
/// no value for a stored zero or empty text. Any thread.
public protocol MappedValue: StorableValue, ListElement {
    /// Stored type: a non-optional property type.
    associatedtype StoredValue: StorableValue
    /// Makes the value for a stored value. Returns nil if there is none.
    init?(stored: StoredValue)
    /// The stored value.
    var stored: StoredValue { get }
}

extension MappedValue where Self: RawRepresentable, RawValue: StorableValue {
    /// Makes the value for a raw value. Returns nil if there is none.
    public init?(stored: RawValue) { self.init(rawValue: stored) }
    /// The raw value.
    public var stored: RawValue { rawValue }
}

extension MappedValue {
    public static var _columnType: _ColumnType { StoredValue._columnType }
    public static var _isOptional: Bool {
        stopUnless(!StoredValue._isOptional, "\(Self.self) is stored as an optional: store a plain type instead")
        return false
    }
    public static var _zero: Self? { StoredValue._zero.flatMap { Self(stored: $0) } }
    public static func _read(_ row: _RowReader, _ column: Int) throws(_UnknownValue) -> Self {
        let stored = try StoredValue._read(row, column)
        guard let value = Self(stored: stored) else { throw UnknownValue(Self.self, stored) }
        return value
    }
    public func _write(_ row: _RowBuffer, _ column: Int) { stored._write(row, column) }
    public var _columnValue: ColumnValue { stored._columnValue }
    public static func _value(of value: Any) -> Self? {
        value as? Self ?? StoredValue._value(of: value).flatMap { Self(stored: $0) }
    }
}

// MARK: Numbers

/// An integer type whose values all fit into `Int`, as which they are stored. `UInt` and `UInt64` do not fit and cannot
/// be property types. A stored number outside the type's range reads as an unknown value.
public protocol _NarrowInteger: MappedValue, FixedWidthInteger, SummableValue where StoredValue == Int, Sum == Int {}

extension _NarrowInteger {
    /// Makes the same number. Returns nil if it is out of range.
    @_documentation(visibility: internal)
    public init?(stored: Int) { self.init(exactly: stored) }
    /// The same number.
    @_documentation(visibility: internal)
    public var stored: Int { Int(self) }
}

extension Int8: _NarrowInteger {}
extension Int16: _NarrowInteger {}
extension Int32: _NarrowInteger {}
extension Int64: _NarrowInteger {}
extension UInt8: _NarrowInteger {}
extension UInt16: _NarrowInteger {}
extension UInt32: _NarrowInteger {}

/// A floating-point type that is stored as `Double`, which represents all its values. A stored `Double` is rounded when
/// read.
public protocol _NarrowFloat: MappedValue, BinaryFloatingPoint, SummableValue
where StoredValue == Double, Sum == Double {}

extension _NarrowFloat {
    /// Makes the nearest number.
    @_documentation(visibility: internal)
    public init?(stored: Double) { self.init(stored) }
    /// The same number.
    @_documentation(visibility: internal)
    public var stored: Double { Double(self) }
}

extension Float: _NarrowFloat {}

// MARK: Unknown values

extension TableSchema {
    /// Returns the name of a property for error messages.
    func place(_ column: Int) -> String { "\(name).\(columns[column].name)" }
}

extension Connection {
    /// Reports an unknown value that cannot be thrown. A block continues with zero and throws when it ends. Without a
    /// block, or if the type has no zero, the process ends.
    func goOn<Value: StorableValue>(after unknown: UnknownValue, in place: String) -> Value {
        let error = unknown.error(of: place)
        failReading(error)
        guard let zero = Value._zero else { stopProgram("\(error)") }
        return zero
    }

    /// Converts a column value to a property's type.
    func value<Value: StorableValue>(_ value: ColumnValue, of place: @autoclosure () -> String) -> Value {
        guard let plain = value.plain else {
            guard let none = Value._zero else { stopProgram("\(place()) has no value for \(Value.self)") }
            return none
        }
        return Value._value(of: plain) ?? goOn(after: UnknownValue(Value.self, plain), in: place())
    }
}
