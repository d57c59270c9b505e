// Requests as JSON, and the numbers in them. Keys and scores of a trial are converted to at most 53 bits, so that
// languages whose numbers are doubles need no special care.
import StillingWellBasis
import TidegaugeDriver

/// The JSON of a request without its beginning `{"id":n` and its end `}`. The number is known when it is sent.
struct RequestText {
    private(set) var bytes: [UInt8] = []
    /// Name of the operation.
    let operation: String

    init(_ operation: String) {
        self.operation = operation
        restart()
    }

    /// Removes all fields but the operation, and keeps the memory.
    mutating func restart() {
        bytes.removeAll(keepingCapacity: true)
        field("op")
        add(text: operation)
    }

    mutating func field(_ name: String) {
        add(",\"")
        add(name)
        add("\":")
    }

    mutating func field(_ name: String, _ number: Int) {
        field(name)
        add("\(number)")
    }

    mutating func field(_ name: String, text: String) {
        field(name)
        add(text: text)
    }

    mutating func add(_ raw: String) { bytes.append(contentsOf: raw.utf8) }

    private mutating func add(text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                add("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func add(_ number: Int64) { add("\(number)") }

    // MARK: Rows, changes and queries

    mutating func add(row: Item) throws {
        add("[\(NarrowNumber.key(row.key)),\(row.group),\(try NarrowNumber.score(row.score)),\(row.stamp)]")
    }

    mutating func add(_ changes: UnsafeBufferPointer<Change>) throws {
        field("changes")
        add("[")
        for (index, change) in changes.enumerated() {
            if index > 0 { add(",") }
            try add(change)
        }
        add("]")
    }

    private mutating func add(_ change: Change) throws {
        let item = change.item
        switch change.operation {
        case .insert:
            add("[\"insert\",")
            add(NarrowNumber.key(item.key))
            add(",{\"group\":")
            add(item.group)
            add(",\"score\":")
            add(try NarrowNumber.score(item.score))
            add(",\"stamp\":")
            add(item.stamp)
            add("}]")
        case .updateScore:
            add("[\"update\",")
            add(NarrowNumber.key(item.key))
            add(",{\"score\":")
            add(try NarrowNumber.score(item.score))
            add(",\"stamp\":")
            add(item.stamp)
            add("}]")
        // A row is moved only in lists, which these engines do not have.
        case .touch, .moveToFront:
            add("[\"update\",")
            add(NarrowNumber.key(item.key))
            add(",{\"stamp\":")
            add(item.stamp)
            add("}]")
        case .delete:
            add("[\"delete\",")
            add(NarrowNumber.key(item.key))
            add("]")
        }
    }

    mutating func add(_ query: Query) throws {
        var conditions: [String] = []
        func bound(_ column: String, _ range: Range<Int64>?, _ narrow: (Int64) throws -> Int64) throws {
            guard let range else { return }
            if range.lowerBound > .min { conditions.append("[\"\(column)\",\">=\",\(try narrow(range.lowerBound))]") }
            if range.upperBound < .max { conditions.append("[\"\(column)\",\"<\",\(try narrow(range.upperBound))]") }
        }
        if let group = query.group { conditions.append("[\"group\",\"=\",\(group)]") }
        try bound("score", query.scores) { try NarrowNumber.score($0) }
        try bound("key", query.keys) { NarrowNumber.key($0) }
        field("query")
        add("{\"match\":[\(conditions.joined(separator: ","))]")
        switch query.order {
        case .none, .list: break
        case .scoreAscending: add(",\"sort\":\"score\"")
        case .scoreDescending: add(",\"sort\":\"-score\"")
        }
        add("}")
    }
}

/// Keys and scores of the harness as numbers of at most 53 bits, in the same order, and back.
///
/// A score of the harness has 31 bits of value and 32 bits of a serial number, of which trials use the lowest and, for
/// a row above all others, the very highest. A score of an engine has 22 bits of a serial number.
enum NarrowNumber {
    private static let most: Int64 = 1 << 53 - 1
    /// Number of keys and serial numbers at the upper end that keep their distance from it.
    private static let top: Int64 = 1024
    private static let wide: Int64 = 1 << 32
    private static let narrow: Int64 = 1 << 22

    /// Error: more serial numbers than an engine's scores have room for.
    struct NoRoom: Error, CustomStringConvertible {
        let description =
            "the trial has more than \(NarrowNumber.narrow - NarrowNumber.top) different scores, which 53-bit numbers have no room for: shorten it, or "
            + "lower dataset.items"
    }

    static func key(_ key: Int64) -> Int64 { key > .max - top ? most - (.max - key) : key }

    /// Numbers that `key` does not return stay what they are.
    static func wideKey(_ key: Int64) -> Int64 { key > most - top && key <= most ? .max - (most - key) : key }

    static func score(_ score: Int64) throws -> Int64 {
        guard score >= 0 else { return score }
        let serial = score % wide
        if serial < narrow - top { return score / wide * narrow + serial }
        guard serial >= wide - top else { throw NoRoom() }
        return score / wide * narrow + serial - wide + narrow
    }

    /// Numbers that `score` does not return stay what they are.
    static func wideScore(_ score: Int64) -> Int64 {
        guard score >= 0, score <= most else { return score }
        let serial = score % narrow
        return score / narrow * wide + (serial < narrow - top ? serial : serial - narrow + wide)
    }

    /// The row as an engine has it. A score without room stays what it is.
    static func engineItem(_ row: Item) -> Item {
        Item(key: key(row.key), group: row.group, score: (try? score(row.score)) ?? row.score, stamp: row.stamp)
    }

    static func wideItem(_ row: Item) -> Item {
        Item(key: wideKey(row.key), group: row.group, score: wideScore(row.score), stamp: row.stamp)
    }
}
