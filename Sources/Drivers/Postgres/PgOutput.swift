// Parses messages of a replication connection: the plugin `pgoutput`, protocol version 1, with binary values. Only
// the table of items is published, so every row is an item.
import TidegaugeDriver

/// A position in the server's log. Ascends with every commit.
typealias LogPosition = UInt64

/// One message of a replication connection.
enum ReplicationMessage: Equatable {
    case change(StreamedChange)
    /// The server has read its log up to `end`, and may request an answer.
    case keepAlive(end: LogPosition, wantsAnswer: Bool)
}

/// One message of the plugin.
enum StreamedChange: Equatable {
    /// Only the lower 32 bits of the number are sent.
    case begin(transaction: UInt32)
    case commit(at: LogPosition, end: LogPosition)
    /// A new or changed row. `replacing` is its former key if the server sent it.
    case write(Item, replacing: Int64?)
    case delete(key: Int64)
    case truncate
    /// A message without effect on rows, such as the layout of a table.
    case nothing
}

extension ReplicationMessage {
    /// - Throws: `PostgresError` if the message cannot be parsed.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        var reader = MessageReader(bytes)
        switch try reader.byte() {
        case UInt8(ascii: "w"):
            // Skips its beginning in the log, the end of the log, and the server's time.
            try reader.skip(24)
            self = .change(try StreamedChange(&reader))
        case UInt8(ascii: "k"):
            let end = LogPosition(bitPattern: try reader.integer(Int64.self))
            try reader.skip(8)
            self = .keepAlive(end: end, wantsAnswer: try reader.byte() != 0)
        case let kind: throw PostgresError("a replication message of the unknown kind \(kind)")
        }
    }
}

extension StreamedChange {
    fileprivate init(_ reader: inout MessageReader) throws {
        switch try reader.byte() {
        case UInt8(ascii: "B"):
            // Skips the commit's position and its time.
            try reader.skip(16)
            self = .begin(transaction: UInt32(bitPattern: try reader.integer(Int32.self)))
        case UInt8(ascii: "C"):
            try reader.skip(1)
            let position = LogPosition(bitPattern: try reader.integer(Int64.self))
            let end = LogPosition(bitPattern: try reader.integer(Int64.self))
            // Skips its time.
            try reader.skip(8)
            self = .commit(at: position, end: end)
        case UInt8(ascii: "I"):
            try reader.skip(4)
            try reader.expect("N")
            self = .write(try reader.item(), replacing: nil)
        case UInt8(ascii: "U"):
            try reader.skip(4)
            var old: Int64?
            var mark = try reader.byte()
            if mark == UInt8(ascii: "K") || mark == UInt8(ascii: "O") {
                old = try reader.key()
                mark = try reader.byte()
            }
            guard mark == UInt8(ascii: "N") else { throw MessageReader.unknown(mark) }
            self = .write(try reader.item(), replacing: old)
        case UInt8(ascii: "D"):
            try reader.skip(4)
            let mark = try reader.byte()
            guard mark == UInt8(ascii: "K") || mark == UInt8(ascii: "O") else { throw MessageReader.unknown(mark) }
            self = .delete(key: try reader.key())
        case UInt8(ascii: "T"): self = .truncate
        case UInt8(ascii: "R"), UInt8(ascii: "Y"), UInt8(ascii: "O"), UInt8(ascii: "M"): self = .nothing
        case let kind: throw MessageReader.unknown(kind)
        }
    }
}

/// Reads values from the front, big-endian.
private struct MessageReader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static func unknown(_ kind: UInt8) -> PostgresError {
        PostgresError(
            "pgoutput sent a message of the unknown kind \(kind), although protocol version 1 was requested")
    }

    private func require(_ count: Int) throws {
        guard count >= 0, bytes.count - place >= count else {
            throw PostgresError("a replication message of \(bytes.count) bytes is truncated")
        }
    }

    mutating func skip(_ count: Int) throws {
        try require(count)
        place += count
    }

    mutating func byte() throws -> UInt8 {
        try require(1)
        defer { place += 1 }
        return bytes[place]
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        let size = MemoryLayout<Value>.size
        try require(size)
        defer { place += size }
        return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Value.self))
    }

    mutating func expect(_ mark: Unicode.Scalar) throws {
        let found = try byte()
        guard found == UInt8(ascii: mark) else { throw Self.unknown(found) }
    }

    /// Calls `body` for each column of a row, with nil if its value is null or was not sent.
    private mutating func columns(_ body: (_ column: Int, _ value: Int64?) -> Void) throws {
        for column in 0..<Int(try integer(Int16.self)) {
            switch try byte() {
            case UInt8(ascii: "n"), UInt8(ascii: "u"): body(column, nil)
            case UInt8(ascii: "b"):
                let length = Int(try integer(Int32.self))
                guard length == 8 else { throw PostgresError("a column of \(length) bytes is no bigint") }
                body(column, try integer(Int64.self))
            case let mark: throw Self.unknown(mark)
            }
        }
    }

    /// Reads a whole row of `bigint` columns. All of them must have been sent, and none may be null.
    mutating func item() throws -> Item {
        var item = Item(key: 0, group: 0, score: 0, stamp: 0)
        var found = 0
        try columns { column, value in
            guard let value else { return }
            found += 1
            switch column {
            case 0: item.key = value
            case 1: item.group = value
            case 2: item.score = value
            case 3: item.stamp = value
            default: found = .min
            }
        }
        guard found == 4 else {
            throw PostgresError("a row of the stream does not have the columns \(ItemTable.columns)")
        }
        return item
    }

    /// Reads the key of a row and ignores the other columns, which the server usually sends as null.
    mutating func key() throws -> Int64 {
        var key: Int64?
        try columns { column, value in if column == 0 { key = value } }
        guard let key else { throw PostgresError("a row of the stream is named without its key") }
        return key
    }
}

extension StreamedChange {
    /// Returns the full number of a transaction from its lower 32 bits: the one nearest to a known number.
    static func widened(_ transaction: UInt32, near known: Int64) -> Int64 {
        let turn = Int64(1) << 32
        let candidate = known & ~(turn - 1) | Int64(transaction)
        if candidate - known > turn / 2 { return candidate - turn }
        return known - candidate > turn / 2 ? candidate + turn : candidate
    }
}
