// The hidden table of a list property: one row per element, so that elements have ids of their own, and everything that
// keeps a query true keeps a list true. Pure.
import Foundation

enum ListTable {
    // The columns of an element's row.
    static let owner = 0
    static let position = 1
    static let value = 2
    static let columnNames = ["owner", "position", "value"]

    static func name(_ table: String, _ property: String) -> String { "\(table).\(property)" }

    /// The table of a list of `element`s, without a number yet.
    static func schema(_ table: String, _ property: String, _ element: ColumnSchema) -> TableSchema {
        TableSchema(
            id: 0, name: name(table, property),
            columns: [
                ColumnSchema(name: columnNames[owner], type: .link, isOptional: true, target: table),
                ColumnSchema(name: columnNames[position], type: .data, isOptional: false), element,
            ])
    }
}

/// Where elements stand in a list: bytes whose order is the order of the list. No two elements have the same, because
/// each contains the number of the change that put it there.
enum ListPosition {
    private static let middle: UInt64 = 1 << 63

    /// Behind everything so far; `change` counts the changes of the list.
    static func last(_ change: UInt64) -> [UInt8] { bytes(middle &+ change) }

    /// Before everything so far.
    static func first(_ change: UInt64) -> [UInt8] { bytes(middle &- change) }

    /// Between two positions. Grows by about a bit each time it is asked for at the same place.
    static func between(_ low: [UInt8], _ high: [UInt8], _ change: UInt64) -> [UInt8] {
        var found: [UInt8] = []
        // False once `found` is below `high` whatever follows.
        var isBounded = true
        while true {
            let place = found.count
            // Nothing is below every byte: what continues `low` is behind it.
            let below = place < low.count ? Int(low[place]) : -1
            let above = isBounded ? (place < high.count ? Int(high[place]) : 0) : 256
            if above - below > 1 {
                found.append(UInt8(below + (above - below) / 2))
                // Not the bare number: its zeros in front would leave no room below.
                return found + last(change)
            }
            if above > max(below, 0) { isBounded = false }
            found.append(UInt8(max(below, 0)))
        }
    }

    /// Right behind a position.
    static func behind(_ low: [UInt8], _ change: UInt64) -> [UInt8] { low + last(change) }

    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
