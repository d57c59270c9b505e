// Hidden table of a list property, with one row per element. So elements have ids, and lists are kept current as
// queries are. Pure.
import Foundation

enum ListTable {
    // Columns of an element's row.
    static let owner = 0
    static let position = 1
    static let value = 2
    static let columnNames = ["owner", "position", "value"]

    static func name(_ table: String, _ property: String) -> String { "\(table).\(property)" }

    /// Table of a list of `element`s, without a number yet.
    static func schema(_ table: String, _ property: String, _ element: ColumnSchema) -> TableSchema {
        TableSchema(
            id: 0, name: name(table, property),
            columns: [
                ColumnSchema(name: columnNames[owner], type: .link, isOptional: true, target: table),
                ColumnSchema(name: columnNames[position], type: .data, isOptional: false), element,
            ])
    }
}

/// Positions of elements in a list: bytes in the order of the list. Unique, because each contains the number of the
/// change that made it.
enum ListPosition {
    private static let middle: UInt64 = 1 << 63

    /// Position behind all existing ones. `change` counts the changes of the list.
    static func last(_ change: UInt64) -> [UInt8] { bytes(middle &+ change) }

    /// Position before all existing ones.
    static func first(_ change: UInt64) -> [UInt8] { bytes(middle &- change) }

    /// Position between two others. Grows by about one bit per insertion at the same place.
    static func between(_ low: [UInt8], _ high: [UInt8], _ change: UInt64) -> [UInt8] {
        var found: [UInt8] = []
        // Becomes false when `found` is below `high`, whatever follows.
        var isBounded = true
        while true {
            let place = found.count
            // At the end of `low`, any byte is above it.
            let below = place < low.count ? Int(low[place]) : -1
            let above = isBounded ? (place < high.count ? Int(high[place]) : 0) : 256
            if above - below > 1 {
                found.append(UInt8(below + (above - below) / 2))
                // Not the bare number: its leading zeros would leave no room below.
                return found + last(change)
            }
            if above > max(below, 0) { isBounded = false }
            found.append(UInt8(max(below, 0)))
        }
    }

    /// Position behind another, used if no position lies between it and the next.
    static func behind(_ low: [UInt8], _ change: UInt64) -> [UInt8] { low + last(change) }

    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
