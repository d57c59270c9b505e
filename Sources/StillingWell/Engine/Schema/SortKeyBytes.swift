// Sort keys: bytes in the order of the rows, so that a tree compares keys without knowing types:
//
//     integer   big endian, sign bit inverted
//     double    (also date) big endian; negative numbers complemented, others with the sign bit inverted; −0 as 0;
//               every NaN as one value beyond infinity
//     link      8 bytes, big endian
//     bool      one byte
//     string    UTF-8 (data: its bytes), 00 as 00 FF, then 00 01
//     uuid      its 16 bytes
//     optional  00 for null, else 01 and the value
//
// Descending terms are complemented. No key is a proper prefix of another's.
import Foundation
import Glibc

/// A column as a part of keys. Contains nothing that is reference-counted.
struct KeyColumn {
    let column: Int
    let type: ColumnType
    let isOptional: Bool
    let ascending: Bool

    init(_ term: SortTerm, _ table: TableSchema) {
        (column, ascending) = (term.column, term.ascending)
        type = term.over?.type ?? table.columns[column].type
        isOptional = term.over?.isOptional ?? table.columns[column].isOptional
    }
}

/// Buffer for the bytes of one key or of several in sequence. Used by one thread.
struct SortKeyBytes {
    private var memory: [UInt8] = []
    /// Number of used bytes of `memory`; the rest is spare capacity.
    private(set) var count = 0

    init() {}

    var bytes: [UInt8] { prefix(count) }

    func prefix(_ most: Int) -> [UInt8] { Array(memory[..<min(count, most)]) }

    mutating func removeAll() { count = 0 }

    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        memory.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Extends the used bytes by `more` ones with any content.
    /// - Returns: offset of the new bytes.
    @inline(__always)
    private mutating func extend(by more: Int) -> Int {
        let start = count
        count &+= more
        if count > memory.count { makeRoom() }
        return start
    }

    @inline(never)
    private mutating func makeRoom() {
        memory.append(contentsOf: repeatElement(0, count: max(32, 2 * count) - memory.count))
    }

    @inline(__always)
    private mutating func append(byte: UInt8) { memory[extend(by: 1)] = byte }

    @inline(__always)
    private mutating func append(_ number: UInt64) {
        let start = extend(by: 8)
        memory.withUnsafeMutableBytes { $0.storeBytes(of: number.bigEndian, toByteOffset: start, as: UInt64.self) }
    }

    private mutating func append(contentsOf source: UnsafeRawBufferPointer) {
        guard let from = source.baseAddress, !source.isEmpty else { return }
        let start = extend(by: source.count)
        memory.withUnsafeMutableBytes { if let to = $0.baseAddress { memcpy(to + start, from, source.count) } }
    }

    private mutating func appendEscaped(_ source: UnsafeRawBufferPointer) {
        appendOpen(source)
        append(byte: 0)
        append(byte: 1)
    }

    private mutating func appendOpen(_ source: UnsafeRawBufferPointer) {
        var rest = source
        while let start = rest.baseAddress, let zero = memchr(start, 0, rest.count) {
            let upToZero = UnsafeRawPointer(zero) - start + 1
            append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<upToZero]))
            append(byte: 0xff)
            rest = UnsafeRawBufferPointer(rebasing: rest[upToZero...])
        }
        append(contentsOf: rest)
    }

    /// Appends the common start of the keys of all strings that begin with `prefix`.
    mutating func append(prefix: [UInt8], ascending: Bool) {
        let start = count
        prefix.withUnsafeBytes { appendOpen($0) }
        if !ascending { complement(from: start) }
    }

    static func ordered(int slot: UInt64) -> UInt64 { slot ^ 1 << 63 }

    @inline(__always)
    static func ordered(double bits: UInt64) -> UInt64 {
        let place = ordered(storedDouble: bits)
        return place &- lowest <= highest &- lowest ? place : ordered(storedDouble: Double.nan.bitPattern)
    }

    private static var lowest: UInt64 { ordered(storedDouble: (-Double.infinity).bitPattern) }
    private static var highest: UInt64 { ordered(storedDouble: Double.infinity.bitPattern) }

    /// Order of keys in the file, in which NaN lies beyond both infinities, according to its sign.
    private static func ordered(storedDouble bits: UInt64) -> UInt64 {
        if bits == 1 << 63 { return 1 << 63 }
        return bits >> 63 == 1 ? ~bits : bits ^ 1 << 63
    }

    /// Appends one column of a row.
    mutating func append(_ row: RowReader, _ part: KeyColumn) {
        let start = count
        if part.isOptional {
            let isNull = row.isNull(part.column)
            append(byte: isNull ? 0 : 1)
            if !isNull { append(row, part.column, part.type) }
        } else {
            append(row, part.column, part.type)
        }
        if !part.ascending { complement(from: start) }
    }

    /// Appends a column of the row at the end of links, or null if the links end early.
    mutating func append(linked end: RowReader?, _ part: KeyColumn) {
        let start = count
        if let end, !(part.isOptional && end.isNull(part.column)) {
            append(byte: 1)
            append(end, part.column, part.type)
        } else {
            append(byte: 0)
        }
        if !part.ascending { complement(from: start) }
    }

    /// Appends a non-null column, ascending and without the null mark.
    mutating func append(_ row: RowReader, _ column: Int, _ type: ColumnType) {
        switch type {
        case .int, .list: append(Self.ordered(int: row.slot(column)))
        case .double, .date: append(Self.ordered(double: row.slot(column)))
        case .bool: append(byte: row.slot(column) == 0 ? 0 : 1)
        case .string, .data: appendEscaped(row.bytes(column))
        case .uuid: withUnsafeBytes(of: UUID._read(row, column).uuid) { append(contentsOf: $0) }
        case .link: append(row.slot(column))
        }
    }

    /// Appends a column in the encoding of stored keys.
    mutating func append(stored row: RowReader, _ column: Int, _ type: ColumnType) {
        switch type {
        case .double, .date: append(Self.ordered(storedDouble: row.slot(column)))
        case .int, .list, .bool, .string, .data, .uuid, .link: append(row, column, type)
        }
    }

    /// Appends a constant as the value of a non-optional column. Returns false if it is null.
    mutating func append(_ value: ColumnValue, ascending: Bool) -> Bool {
        let start = count
        switch value {
        case .null: return false
        case .int(let value): append(Self.ordered(int: UInt64(bitPattern: Int64(value))))
        case .double(let value): append(Self.ordered(double: value.bitPattern))
        case .date(let value): append(Self.ordered(double: value.timeIntervalSinceReferenceDate.bitPattern))
        case .bool(let value): append(byte: value ? 1 : 0)
        case .string(var value): value.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
        case .data(let value): value.withUnsafeBytes { appendEscaped($0) }
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { append(contentsOf: $0) }
        case .link(let value): append(value.rawValue)
        }
        if !ascending { complement(from: start) }
        return true
    }

    /// Appends a constant as the value of a column.
    mutating func append(_ value: ColumnValue, isOptional: Bool, ascending: Bool) {
        if isOptional { append(byte: (value == .null ? 0 : 1) ^ (ascending ? 0 : 0xff)) }
        _ = append(value, ascending: ascending)
    }

    /// Range of a column's keys that have an order: not null, and not NaN.
    static func ordered(_ column: ColumnSchema, ascending: Bool) -> (lower: [UInt8], upper: [UInt8]?) {
        func key(_ infinity: Double?) -> [UInt8] {
            var key = SortKeyBytes()
            if column.isOptional { key.append(byte: ascending ? 1 : 0xfe) }
            if let infinity { key.append(.double(infinity), isOptional: false, ascending: ascending) }
            return key.bytes
        }
        let isFloating = column.type == .double || column.type == .date
        let first = key(isFloating ? (ascending ? -.infinity : .infinity) : nil)
        let last = key(isFloating ? (ascending ? .infinity : -.infinity) : nil)
        return (first, last.isEmpty ? nil : successor(of: last))
    }

    mutating func append(_ id: ObjectID) { append(id.rawValue) }

    private mutating func complement(from start: Int) {
        for index in start..<count { memory[index] = ~memory[index] }
    }

    /// Smallest key behind all keys that start with `prefix`, or nil if there is none.
    static func successor(of prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 != 0xff }) else { return nil }
        var next = Array(prefix[...last])
        next[last] += 1
        return next
    }
}
