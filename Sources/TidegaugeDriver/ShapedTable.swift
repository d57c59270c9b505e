// SQL for rows that hold more than numbers: the table of `ItemTable` with two more columns, and counterpart tables.
import Foundation

/// A value bound to a statement.
public enum SQLValue: Sendable {
    case integer(Int64)
    case text(String)
    case bytes(Data)
}

/// Schema and statements for rows of a shape. For plain rows it uses `ItemTable`.
public struct ShapedTable: Sendable {
    public let shape: RowShape
    /// Whether rows also have a list position. Only for plain rows.
    public let hasList: Bool
    /// The columns of a `WholeRow` in the order of its fields: those of an item, text, payload, and the counterpart's
    /// stamp (null if there is none).
    public let columns: String

    public init(_ shape: RowShape, hasList: Bool = false) {
        (self.shape, self.hasList) = (shape, hasList)
        guard !shape.isPlain else {
            columns = "\(ItemTable.columns), '', x'', NULL"
            return
        }
        let stamps = (0..<shape.furtherTables).map {
            "(SELECT stamp FROM \(Self.name($0)) AS c WHERE c.key = item.key)"
        }
        columns =
            "\(ItemTable.columns), text, payload, COALESCE(\((stamps + ["NULL", "NULL"]).joined(separator: ", ")))"
    }

    private static func name(_ counterpart: Int) -> String { "counterpart_\(counterpart + 1)" }

    /// Like `ItemTable.schema`.
    public var schema: String {
        if shape.isPlain { return hasList ? ItemTable.listedSchema : ItemTable.schema }
        let counterparts = (0..<shape.furtherTables).map {
            "CREATE TABLE IF NOT EXISTS \(Self.name($0)) (key INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);"
        }
        return ([ItemTable.schema(", text TEXT NOT NULL, payload BLOB NOT NULL")] + counterparts)
            .joined(separator: "\n")
    }

    /// Returns the statement of a change of a plain row and its bound values.
    public func statement(_ change: Change) -> (sql: String, values: [Int64]) {
        hasList ? ItemTable.listedStatement(change) : ItemTable.statement(change)
    }

    /// Selects the whole row with a key.
    public var find: String { "SELECT \(columns) FROM item WHERE key = ?" }

    /// Returns the statements of a change of a row that is not plain, in order, with bound values. Each changes one
    /// row, or none if the row is missing.
    public func statements(_ change: Change) -> [(sql: String, values: [SQLValue])] {
        let item = change.item
        let (key, stamp) = (SQLValue.integer(item.key), SQLValue.integer(item.stamp))
        let counterpart = shape.counterpart(of: item.key).map(Self.name)
        func both(_ row: (String, [SQLValue]), _ other: (String) -> (String, [SQLValue])) -> [(String, [SQLValue])] {
            [row] + (counterpart.map { [other($0)] } ?? [])
        }
        switch change.operation {
        case .insert:
            let values: [SQLValue] = [
                key, .integer(item.group), .integer(item.score), stamp, .text(shape.text(of: item)),
                .bytes(shape.payload(ofKey: item.key)),
            ]
            return both(("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)", values)) {
                ("INSERT INTO \($0) VALUES (?, ?)", [key, stamp])
            }
        case .updateScore:
            let values = [.integer(item.score), stamp, .text(shape.text(of: item)), key]
            return both(("UPDATE item SET score = ?, stamp = ?, text = ? WHERE key = ?", values)) {
                ("UPDATE \($0) SET stamp = ? WHERE key = ?", [stamp, key])
            }
        case .touch, .moveToFront:
            return both(
                ("UPDATE item SET stamp = ?, text = ? WHERE key = ?", [stamp, .text(shape.text(of: item)), key])
            ) {
                ("UPDATE \($0) SET stamp = ? WHERE key = ?", [stamp, key])
            }
        case .delete: return both((ItemTable.delete, [key])) { ("DELETE FROM \($0) WHERE key = ?", [key]) }
        }
    }
}
