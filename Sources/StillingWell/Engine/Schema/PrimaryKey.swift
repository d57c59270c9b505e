// Encoding of primary keys. Numbers, Booleans and dates are the slot, big endian with the highest bit inverted, so that
// ascending integers append. Strings, data and UUIDs are their bytes. LMDB has no empty key, so the empty key is a zero
// byte, and keys that start with a zero byte get another in front.
//
// A key of maximum length has no room for that. If it starts with zeros, they are replaced by one: no other key encodes
// to one zero and other bytes, and the length tells how many zeros there were. The key of only zeros remains. For text
// it is encoded as a byte that no text has. For data it cannot be stored, because there is one more key than LMDB can
// have.
import CStillingWellLMDB
import Foundation

enum PrimaryKey {
    /// LMDB's limit for a key.
    static let maxBytes = 511

    /// Calls `body` with the encoded key of a row.
    static func withBytes<Result>(
        of row: RowReader, _ column: Int, _ type: ColumnType, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        if type.isOutOfLine { return withKey(row.bytes(column), isText: type == .string, body) }
        let isFloating = type == .double || type == .date
        let slot = isFloating ? unsignedZero(row.slot(column)) : row.slot(column)
        return withUnsafeBytes(of: ordered(slot).bigEndian, body)
    }

    /// Encoded key of a number, Boolean or date, whose big-endian bytes are the key. Nil for other values.
    static func number(of value: ColumnValue) -> UInt64? {
        switch value {
        case .int(let value): ordered(UInt64(bitPattern: Int64(value)))
        case .bool(let value): ordered(value ? 1 : 0)
        case .double(let value): ordered(unsignedZero(value.bitPattern))
        case .date(let value): ordered(unsignedZero(value.timeIntervalSinceReferenceDate.bitPattern))
        case .null, .link, .string, .data, .uuid: nil
        }
    }

    /// Calls `body` with the encoded key of a value. Returns nil for null, a link, and a value too long to be stored.
    static func withBytes<Result>(of value: ColumnValue, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        func storable(_ bytes: UnsafeRawBufferPointer) -> Result? { bytes.count > maxBytes ? nil : body(bytes) }
        switch value {
        case .null, .link: return nil
        case .int, .bool, .double, .date: return number(of: value).flatMap { withUnsafeBytes(of: $0.bigEndian, body) }
        case .string(var value): return value.withUTF8 { withKey(UnsafeRawBufferPointer($0), isText: true, storable) }
        case .data(let value): return value.withUnsafeBytes { withKey($0, isText: false, storable) }
        case .uuid(let value): return withUnsafeBytes(of: value.uuid) { withKey($0, isText: false, storable) }
        }
    }

    private static func withKey<Result>(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        if let first = bytes.first, first != 0 { return body(bytes) }
        if bytes.count == maxBytes {
            let rest = bytes.drop { $0 == 0 }
            if !rest.isEmpty { return ([0] + rest).withUnsafeBytes(body) }
            if isText { return [UInt8.max].withUnsafeBytes(body) }
        }
        return ([0] + bytes).withUnsafeBytes(body)
    }

    /// Zero and minus zero are equal, so they have the same key.
    private static func unsignedZero(_ bits: UInt64) -> UInt64 { bits == 1 << 63 ? 0 : bits }

    private static func ordered(_ slot: UInt64) -> UInt64 { slot ^ 1 << 63 }

    /// Error for a key that could not be stored.
    /// - Parameter code: LMDB's, or `EMSGSIZE` for a key that is too long.
    /// - Returns: nil for codes that are not about keys.
    static func error(_ code: Int32, _ row: RowReader, _ column: Int, _ table: TableSchema) -> StoreError? {
        switch code {
        case MDB_KEYEXIST: .duplicatePrimaryKey(table: table.name, key: text(of: row, column, table))
        case EMSGSIZE:
            .primaryKeyTooLong(
                table: table.name, bytes: withBytes(of: row, column, table.columns[column].type) { $0.count },
                limit: maxBytes)
        default: nil
        }
    }

    /// Text of the key in an error message.
    private static func text(of row: RowReader, _ column: Int, _ schema: TableSchema) -> String {
        switch schema.columns[column].type {
        case .int: "\(Int._read(row, column))"
        case .double: "\(Double._read(row, column))"
        case .bool: "\(Bool._read(row, column))"
        case .date: "\(Date._read(row, column))"
        case .string: "'\(String(decoding: row.bytes(column), as: UTF8.self))'"
        case .data: "of \(row.bytes(column).count) bytes"
        case .uuid: "\(UUID._read(row, column))"
        case .link, .list: ""
        }
    }
}
