// Types of properties that are stored as another type: enumerations, types of a program's own, and the numbers that are no
// column type of their own. Everything below the face sees what is stored, and nothing of the mapping.
import StillingWellBasis

/// A type that properties, optionals and elements of lists can have because each of its values is stored as one of another
/// type. An enumeration with raw values needs to say so and no more, another type says how:
///
///     enum Priority: Int, MappedValue { case low, normal, high }
///
///     struct Celsius: MappedValue {
///         var degrees: Double
///         init(stored: Double) { degrees = stored }
///         var stored: Double { degrees }
///     }
///
/// Filters, orders, indexes, primary keys and the text of queries compare what is stored: `<` and `sorted` go by the order of
/// that, whatever `Comparable` says of the type, and by the bytes where a text is stored. So equal values should be
/// stored alike, and others differently.
///
/// Where the file has what is no value of the type, because a newer program wrote it, a property or an element that is read
/// ends its `store.read` or write block with `unknownValue`; elsewhere it ends the process with that message, as all does
/// that cannot be read where nothing can be thrown. A type that gives a value for it in `init(stored:)` is told of none. Any thread.
public protocol MappedValue: StorableValue, ListElement {
    /// What it is stored as: one of the types of properties, not an optional one.
    associatedtype StoredValue: StorableValue
    /// The value that is stored so; nil where there is none.
    init?(stored: StoredValue)
    /// What is stored.
    var stored: StoredValue { get }
}

extension MappedValue where Self: RawRepresentable, RawValue: StorableValue {
    /// The value of a raw value; nil where there is none.
    public init?(stored: RawValue) { self.init(rawValue: stored) }
    /// The raw value.
    public var stored: RawValue { rawValue }
}

extension MappedValue {
    public static var _columnType: ColumnType { StoredValue._columnType }
    public static var _isOptional: Bool {
        stopUnless(!StoredValue._isOptional, "\(Self.self) is stored as an optional: store a plain type instead")
        return false
    }
    public static var _zero: Self? { StoredValue._zero.flatMap { Self(stored: $0) } }
    public static func _read(_ row: RowReader, _ column: Int) throws(UnknownValue) -> Self {
        let stored = try StoredValue._read(row, column)
        guard let value = Self(stored: stored) else { throw UnknownValue(Self.self, stored) }
        return value
    }
    public func _write(_ row: RowBuffer, _ column: Int) { stored._write(row, column) }
    public var _columnValue: ColumnValue { stored._columnValue }
    public static func _value(of value: Any) -> Self? {
        value as? Self ?? StoredValue._value(of: value).flatMap { Self(stored: $0) }
    }
}

// MARK: Numbers

/// The integers all of whose values an `Int` has, as which they are stored. (`UInt` and `UInt64` have more: no property can
/// be of these types.) A number that is out of the type's range in the file is no value of it.
public protocol NarrowInteger: MappedValue, FixedWidthInteger, SummableValue where StoredValue == Int, Sum == Int {}

extension NarrowInteger {
    /// The same number; nil where the type does not have it.
    public init?(stored: Int) { self.init(exactly: stored) }
    /// The same number.
    public var stored: Int { Int(self) }
}

extension Int8: NarrowInteger {}
extension Int16: NarrowInteger {}
extension Int32: NarrowInteger {}
extension Int64: NarrowInteger {}
extension UInt8: NarrowInteger {}
extension UInt16: NarrowInteger {}
extension UInt32: NarrowInteger {}

/// Stored as a `Double`, which has all its values. What a `Double` property has put into the file is rounded.
extension Float: MappedValue, SummableValue {
    public typealias Sum = Double
    public init(stored: Double) { self.init(stored) }
    public var stored: Double { Double(self) }
}

// MARK: What cannot be read

extension TableSchema {
    /// A property, for an error.
    func place(_ column: Int) -> String { "\(name).\(columns[column].name)" }
}

extension Connection {
    /// Takes that a property, or a list, has what is no value of its type, where that cannot be thrown. A block goes on with
    /// zero until it ends with the error; without one, and elsewhere, the process ends.
    func goOn<Value: StorableValue>(after unknown: UnknownValue, in place: String) -> Value {
        let error = unknown.error(of: place)
        failReading(error)
        guard let zero = Value._zero else { stopProgram("\(error)") }
        return zero
    }

    /// A value as the type of the property that it is of.
    func value<Value: StorableValue>(_ value: ColumnValue, of place: @autoclosure () -> String) -> Value {
        guard let plain = value.plain else {
            guard let none = Value._zero else { stopProgram("\(place()) has no value for \(Value.self)") }
            return none
        }
        return Value._value(of: plain) ?? goOn(after: UnknownValue(Value.self, plain), in: place())
    }
}
