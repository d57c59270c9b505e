// The Swift types a property may have, and how each meets a row and a query. Underscored requirements are the store's
// own business: conforming further types is not supported.
import Foundation

/// A type that `@Stored` properties can have: Int, Double, Bool, String, Date, Data, UUID, and optionals of them.
public protocol StorableValue: QueryArgument, Sendable, Equatable {
    static var _columnType: ColumnType { get }
    static var _isOptional: Bool { get }
    /// What a column reads as that is null, or that the row does not have yet.
    static var _zero: Self { get }
    static func _read(_ row: RowReader, _ column: Int) -> Self
    func _write(_ row: RowBuffer, _ column: Int)
    var _columnValue: ColumnValue { get }
}

extension StorableValue {
    public static var _isOptional: Bool { false }
}

extension Int: StorableValue {
    public static var _columnType: ColumnType { .int }
    public static var _zero: Int { 0 }
    public static func _read(_ row: RowReader, _ column: Int) -> Int { Int(bitPattern: UInt(row.slot(column))) }
    public func _write(_ row: RowBuffer, _ column: Int) { row.setSlot(column, UInt64(bitPattern: Int64(self))) }
    public var _columnValue: ColumnValue { .int(self) }
}

extension Double: StorableValue {
    public static var _columnType: ColumnType { .double }
    public static var _zero: Double { 0 }
    public static func _read(_ row: RowReader, _ column: Int) -> Double { Double(bitPattern: row.slot(column)) }
    public func _write(_ row: RowBuffer, _ column: Int) { row.setSlot(column, bitPattern) }
    public var _columnValue: ColumnValue { .double(self) }
}

extension Bool: StorableValue {
    public static var _columnType: ColumnType { .bool }
    public static var _zero: Bool { false }
    public static func _read(_ row: RowReader, _ column: Int) -> Bool { row.slot(column) != 0 }
    public func _write(_ row: RowBuffer, _ column: Int) { row.setSlot(column, self ? 1 : 0) }
    public var _columnValue: ColumnValue { .bool(self) }
}

extension Date: StorableValue {
    public static var _columnType: ColumnType { .date }
    public static var _zero: Date { Date(timeIntervalSinceReferenceDate: 0) }
    public static func _read(_ row: RowReader, _ column: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double._read(row, column))
    }
    public func _write(_ row: RowBuffer, _ column: Int) { timeIntervalSinceReferenceDate._write(row, column) }
    public var _columnValue: ColumnValue { .date(self) }
}

extension String: StorableValue {
    public static var _columnType: ColumnType { .string }
    public static var _zero: String { "" }
    public static func _read(_ row: RowReader, _ column: Int) -> String {
        String(decoding: row.bytes(column), as: UTF8.self)
    }
    public func _write(_ row: RowBuffer, _ column: Int) {
        var copy = self
        copy.withUTF8 { row.setBytes(column, UnsafeRawBufferPointer($0)) }
    }
    public var _columnValue: ColumnValue { .string(self) }
}

extension Data: StorableValue {
    public static var _columnType: ColumnType { .data }
    public static var _zero: Data { Data() }
    public static func _read(_ row: RowReader, _ column: Int) -> Data { Data(row.bytes(column)) }
    public func _write(_ row: RowBuffer, _ column: Int) { withUnsafeBytes { row.setBytes(column, $0) } }
    public var _columnValue: ColumnValue { .data(self) }
}

extension UUID: StorableValue {
    public static var _columnType: ColumnType { .uuid }
    public static var _zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static func _read(_ row: RowReader, _ column: Int) -> UUID {
        let bytes = row.bytes(column)
        return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : _zero
    }
    public func _write(_ row: RowBuffer, _ column: Int) { withUnsafeBytes(of: uuid) { row.setBytes(column, $0) } }
    public var _columnValue: ColumnValue { .uuid(self) }
}

extension Optional: StorableValue where Wrapped: StorableValue {
    public static var _columnType: ColumnType { Wrapped._columnType }
    public static var _isOptional: Bool { true }
    public static var _zero: Wrapped? { nil }
    public static func _read(_ row: RowReader, _ column: Int) -> Wrapped? {
        row.isNull(column) ? nil : Wrapped._read(row, column)
    }
    public func _write(_ row: RowBuffer, _ column: Int) {
        if let self {
            self._write(row, column)
        } else {
            row.setNull(column, isOutOfLine: Wrapped._columnType.isOutOfLine)
        }
    }
    public var _columnValue: ColumnValue { self?._columnValue ?? .null }
}
