// Sort keys as bytes whose order is the order of the rows, so that a tree compares without knowing types:
//
//     integer   big endian, sign bit turned
//     double    big endian; negative numbers complemented, others with the sign bit turned; −0 as 0
//     bool      one byte
//     string    UTF-8 (data: its bytes), 00 as 00 FF, then 00 01
//     uuid      its sixteen bytes
//     optional  00 for null, else 01 and the value
//
// Descending terms are complemented. No key is a proper prefix of another's.
import Foundation

/// The bytes being put together. One thread.
package struct SortKeyBytes {
    package private(set) var bytes: [UInt8] = []

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func appendEscaped(_ source: UnsafeRawBufferPointer) {
        appendOpen(source)
        bytes.append(0)
        bytes.append(1)
    }

    private mutating func appendOpen(_ source: UnsafeRawBufferPointer) {
        for byte in source {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xff) }
        }
    }

    /// Appends what the keys of all strings begin with that begin with `prefix`.
    package mutating func append(prefix: [UInt8], ascending: Bool) {
        let start = bytes.count
        prefix.withUnsafeBytes { appendOpen($0) }
        if !ascending { complement(from: start) }
    }

    package static func ordered(int slot: UInt64) -> UInt64 { slot ^ 1 << 63 }

    package static func ordered(double bits: UInt64) -> UInt64 {
        if bits == 1 << 63 { return 1 << 63 }
        return bits >> 63 == 1 ? ~bits : bits ^ 1 << 63
    }

    /// Appends one column of a row.
    package mutating func append(_ row: RowReader, _ term: SortTerm, _ column: ColumnSchema) {
        let start = bytes.count
        let isNull = row.isNull(term.column)
        if column.isOptional { bytes.append(isNull ? 0 : 1) }
        if !(column.isOptional && isNull) { append(row, term.column, column.type) }
        if !term.ascending { complement(from: start) }
    }

    /// Appends a column of what links lead to; null where they lead nowhere.
    package mutating func append(_ end: RowReader?, _ term: SortTerm, _ column: LinkedColumn) {
        let start = bytes.count
        if let end, !(column.isOptional && end.isNull(term.column)) {
            bytes.append(1)
            append(end, term.column, column.type)
        } else {
            bytes.append(0)
        }
        if !term.ascending { complement(from: start) }
    }

    /// Appends a column that is not null, ascending and without a mark for that.
    package mutating func append(_ row: RowReader, _ column: Int, _ type: ColumnType) {
        switch type {
        case .int, .list: append(Self.ordered(int: row.slot(column)))
        case .double, .date: append(Self.ordered(double: row.slot(column)))
        case .bool: bytes.append(row.slot(column) == 0 ? 0 : 1)
        case .string, .data: appendEscaped(row.bytes(column))
        case .uuid: withUnsafeBytes(of: UUID._read(row, column).uuid) { bytes.append(contentsOf: $0) }
        case .link: append(row.slot(column))
        }
    }

    /// Appends a constant as the value of a column that is not optional; false when it is null.
    package mutating func append(_ value: ColumnValue, ascending: Bool) -> Bool {
        let start = bytes.count
        switch value {
        case .null: return false
        case .int(let value): append(Self.ordered(int: UInt64(bitPattern: Int64(value))))
        case .double(let value): append(Self.ordered(double: value.bitPattern))
        case .date(let value): append(Self.ordered(double: value.timeIntervalSinceReferenceDate.bitPattern))
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .string(var value): value.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
        case .data(let value): value.withUnsafeBytes { appendEscaped($0) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
        case .link(let value): append(value.rawValue)
        }
        if !ascending { complement(from: start) }
        return true
    }

    /// Appends a constant as the value of a column.
    package mutating func append(_ value: ColumnValue, isOptional: Bool, ascending: Bool) {
        if isOptional { bytes.append((value == .null ? 0 : 1) ^ (ascending ? 0 : 0xff)) }
        _ = append(value, ascending: ascending)
    }

    /// Where those values of a column stand that are in its order: not null, and numbers.
    package static func ordered(_ column: ColumnSchema, ascending: Bool) -> (lower: [UInt8], upper: [UInt8]?) {
        func key(_ infinity: Double?) -> [UInt8] {
            var key = SortKeyBytes()
            if column.isOptional { key.bytes.append(ascending ? 1 : 0xfe) }
            if let infinity { key.append(.double(infinity), isOptional: false, ascending: ascending) }
            return key.bytes
        }
        let isFloating = column.type == .double || column.type == .date
        let first = key(isFloating ? (ascending ? -.infinity : .infinity) : nil)
        let last = key(isFloating ? (ascending ? .infinity : -.infinity) : nil)
        return (first, last.isEmpty ? nil : successor(of: last))
    }

    /// Appends an object's id.
    package mutating func append(_ id: ObjectID) { append(id.rawValue) }

    private mutating func complement(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// The smallest bytes behind everything that starts with `prefix`; nil when there are none.
    static func successor(of prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 != 0xff }) else { return nil }
        var next = Array(prefix[...last])
        next[last] += 1
        return next
    }
}
