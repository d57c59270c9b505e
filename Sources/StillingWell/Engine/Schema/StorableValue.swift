// Swift types that a property may have, and their conversion to rows and queries. Underscored requirements are internal
// to the store: conforming further types is not supported.
import Foundation

/// A type that `@Stored` properties can have: Int, Double, Bool, String, Date, Data, UUID, types mapped to them
/// (`MappedValue`: further numbers, enumerations, types of a program), and optionals of all these.
public protocol StorableValue: QueryArgument, Sendable, Equatable {
    static var _columnType: _ColumnType { get }
    static var _isOptional: Bool { get }
    /// Value of a property whose object was deleted; nil for a type without such a value.
    static var _zero: Self? { get }
    /// Value of a column. A type that is not optional reads a column that is null, or that the row does not have yet,
    /// as the value of zero bytes.
    static func _read(_ row: _RowReader, _ column: Int) throws(_UnknownValue) -> Self
    func _write(_ row: _RowBuffer, _ column: Int)
    var _columnValue: ColumnValue { get }
    /// Converts an untyped value. Returns nil if it cannot be converted to this type.
    static func _value(of value: Any) -> Self?
}

@usableFromInline typealias UnknownValue = _UnknownValue

/// Error for a column whose value is invalid for the type it is read as, or whose large value cannot be read. A class,
/// so that it is thrown in a register: reads of properties would have to reserve space for a larger error.
public final class _UnknownValue: Error {
    /// Name of the type.
    let type: String
    /// Stored value of the column.
    let value: String
    /// Why a large value cannot be read, which its source has kept too. Nil if the value is invalid for the type.
    let failure: StoreError?

    init(_ type: Any.Type, _ value: some StorableValue) {
        self.type = "\(type)"
        self.value = value is String ? "'\(value)'" : "\(value)"
        failure = nil
    }

    init(_ failure: StoreError?) {
        (type, value) = ("", "what cannot be read")
        self.failure = failure
    }

    func error(of property: String) -> StoreError {
        failure ?? .unknownValue(property: property, type: type, value: value)
    }
}

extension RowReader {
    /// Bytes of a column. Throws if it is a large value that cannot be read.
    @inline(__always)
    func bytesOrFailure(_ column: Int) throws(UnknownValue) -> UnsafeRawBufferPointer {
        let bytes = bytes(column)
        if bytes.baseAddress == nil { throw UnknownValue(values.failure) }
        return bytes
    }
}

extension StorableValue {
    public static var _isOptional: Bool { false }
    public static func _value(of value: Any) -> Self? { value as? Self }
}

/// Returns whether an untyped value is nil or null.
func isNil(_ value: Any) -> Bool {
    if value is NSNull { return true }
    if case Optional<Any>.none = value { return true }
    return false
}

extension Int: StorableValue {
    public static var _columnType: _ColumnType { .int }
    public static var _zero: Int? { 0 }
    @inlinable
    public static func _read(_ row: _RowReader, _ column: Int) -> Int { Int(bitPattern: UInt(row.slot(column))) }
    public func _write(_ row: _RowBuffer, _ column: Int) { row.setSlot(column, UInt64(bitPattern: Int64(self))) }
    public var _columnValue: ColumnValue { .int(self) }
}

extension Double: StorableValue {
    public static var _columnType: _ColumnType { .double }
    public static var _zero: Double? { 0 }
    @inlinable
    public static func _read(_ row: _RowReader, _ column: Int) -> Double { Double(bitPattern: row.slot(column)) }
    public func _write(_ row: _RowBuffer, _ column: Int) { row.setSlot(column, bitPattern) }
    public var _columnValue: ColumnValue { .double(self) }
    public static func _value(of value: Any) -> Double? { value as? Double ?? (value as? Int).map { Double($0) } }
}

extension Bool: StorableValue {
    public static var _columnType: _ColumnType { .bool }
    public static var _zero: Bool? { false }
    @inlinable
    public static func _read(_ row: _RowReader, _ column: Int) -> Bool { row.slot(column) != 0 }
    public func _write(_ row: _RowBuffer, _ column: Int) { row.setSlot(column, self ? 1 : 0) }
    public var _columnValue: ColumnValue { .bool(self) }
}

extension Date: StorableValue {
    public static var _columnType: _ColumnType { .date }
    public static var _zero: Date? { Date(timeIntervalSinceReferenceDate: 0) }
    @inlinable
    public static func _read(_ row: _RowReader, _ column: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double._read(row, column))
    }
    public func _write(_ row: _RowBuffer, _ column: Int) { timeIntervalSinceReferenceDate._write(row, column) }
    public var _columnValue: ColumnValue { .date(self) }
}

extension String: StorableValue {
    public static var _columnType: _ColumnType { .string }
    public static var _zero: String? { "" }
    public static func _read(_ row: _RowReader, _ column: Int) throws(_UnknownValue) -> String {
        String(decoding: try row.bytesOrFailure(column), as: UTF8.self)
    }
    public func _write(_ row: _RowBuffer, _ column: Int) {
        var copy = self
        copy.withUTF8 { row.setBytes(column, UnsafeRawBufferPointer($0)) }
    }
    public var _columnValue: ColumnValue { .string(self) }
}

extension Data: StorableValue {
    public static var _columnType: _ColumnType { .data }
    public static var _zero: Data? { Data() }
    public static func _read(_ row: _RowReader, _ column: Int) throws(_UnknownValue) -> Data {
        Data(try row.bytesOrFailure(column))
    }
    public func _write(_ row: _RowBuffer, _ column: Int) { withUnsafeBytes { row.setBytes(column, $0) } }
    public var _columnValue: ColumnValue { .data(self) }
}

extension UUID: StorableValue {
    public static var _columnType: _ColumnType { .uuid }
    public static var _zero: UUID? { UUID.zero }
    private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    public static func _read(_ row: _RowReader, _ column: Int) -> UUID {
        let bytes = row.bytes(column)
        return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : zero
    }
    public func _write(_ row: _RowBuffer, _ column: Int) { withUnsafeBytes(of: uuid) { row.setBytes(column, $0) } }
    public var _columnValue: ColumnValue { .uuid(self) }
}

extension Optional: StorableValue where Wrapped: StorableValue {
    public static var _columnType: _ColumnType { Wrapped._columnType }
    public static var _isOptional: Bool { true }
    public static var _zero: Wrapped?? { .some(nil) }
    @inlinable
    public static func _read(_ row: _RowReader, _ column: Int) throws(_UnknownValue) -> Wrapped? {
        try row.isNull(column) ? nil : Wrapped._read(row, column)
    }
    public static func _value(of value: Any) -> Wrapped?? {
        isNil(value) ? .some(nil) : Wrapped._value(of: value).map { .some($0) }
    }
    public func _write(_ row: _RowBuffer, _ column: Int) {
        if let self {
            self._write(row, column)
        } else {
            row.setNull(column, isOutOfLine: Wrapped._columnType.isOutOfLine)
        }
    }
    public var _columnValue: ColumnValue { self?._columnValue ?? .null }
}
