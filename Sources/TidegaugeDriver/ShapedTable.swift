// The tables of rows that hold more than numbers as SQL: those of `ItemTable` with two more columns, and tables of counterparts.
import Foundation

/// A value that is bound to a statement.
public enum SQLValue: Sendable {
    case integer(Int64)
    case text(String)
    case bytes(Data)
}

/// How rows of a shape stand in a relational engine. Where it is plain, `ItemTable` makes the changes, with less ado.
public struct ShapedTable: Sendable {
    public let shape: RowShape
    /// Rows stand in a list too. Only where they are plain.
    public let hasList: Bool
    /// The columns of a `WholeRow`, in the order of its fields: an item's, text, payload, and the counterpart's stamp, which is
    /// null where there is none.
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

    /// As `ItemTable.schema`.
    public var schema: String {
        if shape.isPlain { return hasList ? ItemTable.listedSchema : ItemTable.schema }
        let counterparts = (0..<shape.furtherTables).map {
            "CREATE TABLE IF NOT EXISTS \(Self.name($0)) (key INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);"
        }
        return ([ItemTable.schema(", text TEXT NOT NULL, payload BLOB NOT NULL")] + counterparts)
            .joined(separator: "\n")
    }

    /// What makes a change of plain rows, and what is bound to it.
    public func statement(_ change: Change) -> (sql: String, values: [Int64]) {
        hasList ? ItemTable.listedStatement(change) : ItemTable.statement(change)
    }

    /// The whole row with a key.
    public var find: String { "SELECT \(columns) FROM item WHERE key = ?" }

    /// What makes a change of rows that are not plain, in order, and what is bound. Each changes one row, or none where the row is missing.
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
