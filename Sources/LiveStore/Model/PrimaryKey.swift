// Primary keys as bytes of their index. Integers are big endian with the sign bit turned, so that ascending keys
// append; everything else is the column's own bytes.
import CLMDB
import Foundation

enum PrimaryKey {
    /// LMDB's limit for a key.
    static let maxBytes = 511

    /// The key bytes of a row.
    static func withBytes<Result>(
        of row: RowReader, _ column: Int, _ type: ColumnType, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        if type.isOutOfLine { return body(row.bytes(column)) }
        return withUnsafeBytes(of: ordered(row.slot(column)).bigEndian, body)
    }

    /// The key bytes of a value; nil for null.
    static func withBytes<Result>(of value: ColumnValue, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        switch value {
        case .null: return nil
        case .int(let value): return withUnsafeBytes(of: ordered(UInt64(bitPattern: Int64(value))).bigEndian, body)
        case .bool(let value): return withUnsafeBytes(of: ordered(value ? 1 : 0).bigEndian, body)
        case .double(let value): return withUnsafeBytes(of: ordered(value.bitPattern).bigEndian, body)
        case .date(let value):
            let bits = value.timeIntervalSinceReferenceDate.bitPattern
            return withUnsafeBytes(of: ordered(bits).bigEndian, body)
        case .string(var value): return value.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .data(let value): return value.withUnsafeBytes { body($0) }
        case .uuid(let value): return withUnsafeBytes(of: value.uuid, body)
        }
    }

    private static func ordered(_ slot: UInt64) -> UInt64 { slot ^ 1 << 63 }

    /// The key for an error message.
    static func text(of row: RowReader, _ column: Int, _ schema: TableSchema) -> String {
        switch schema.columns[column].type {
        case .int: "\(Int._read(row, column))"
        case .double: "\(Double._read(row, column))"
        case .bool: "\(Bool._read(row, column))"
        case .date: "\(Date._read(row, column))"
        case .string: "'\(String._read(row, column))'"
        case .data: "of \(row.bytes(column).count) bytes"
        case .uuid: "\(UUID._read(row, column))"
        }
    }
}
