// SQL for the table of items and for queries, shared by drivers of relational engines.

/// Schema and statements of the table of items.
public enum ItemTable {
    /// Creates the table, its indexes and a one-row table with the version, if they do not exist. One statement per
    /// line, in this order.
    public static let schema = schema("")

    /// - Parameter further: columns after those of an item.
    static func schema(_ further: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS item (key INTEGER PRIMARY KEY, grp INTEGER NOT NULL, score INTEGER NOT NULL, stamp INTEGER NOT NULL\(further));
        CREATE INDEX IF NOT EXISTS item_score ON item (score);
        CREATE INDEX IF NOT EXISTS item_grp ON item (grp);
        CREATE TABLE IF NOT EXISTS clock (version INTEGER NOT NULL);
        INSERT INTO clock SELECT 0 WHERE NOT EXISTS (SELECT * FROM clock);
        """
    }

    /// Like `schema`, with an indexed position column, as an application keeps an order in an engine without lists.
    public static let listedSchema =
        schema(", place INTEGER NOT NULL") + "\nCREATE INDEX IF NOT EXISTS item_place ON item (place);"

    /// The columns of an `Item`, in the order of its fields.
    public static let columns = "key, grp, score, stamp"
    public static let insert = "INSERT INTO item VALUES (?, ?, ?, ?)"
    public static let updateScore = "UPDATE item SET score = ?, stamp = ? WHERE key = ?"
    public static let touch = "UPDATE item SET stamp = ? WHERE key = ?"
    public static let delete = "DELETE FROM item WHERE key = ?"
    public static let find = "SELECT key, grp, score, stamp FROM item WHERE key = ?"
    public static let setVersion = "UPDATE clock SET version = ?"
    public static let version = "SELECT version FROM clock"

    private static let insertLast =
        "INSERT INTO item SELECT ?, ?, ?, ?, COALESCE((SELECT MAX(place) FROM item), 0) + 1"
    private static let moveToFront =
        "UPDATE item SET stamp = ?, place = (SELECT MIN(place) FROM item) - 1 WHERE key = ?"

    /// Like `statement`, for rows of `listedSchema`.
    public static func listedStatement(_ change: Change) -> (sql: String, values: [Int64]) {
        let (sql, values) = statement(change)
        return switch change.operation {
        case .insert: (insertLast, values)
        case .moveToFront: (moveToFront, values)
        case .updateScore, .touch, .delete: (sql, values)
        }
    }

    /// Returns the statement of a change and its bound values. It changes one row, or none if the row is missing.
    public static func statement(_ change: Change) -> (sql: String, values: [Int64]) {
        let item = change.item
        return switch change.operation {
        case .insert: (insert, [item.key, item.group, item.score, item.stamp])
        case .updateScore: (updateScore, [item.score, item.stamp, item.key])
        case .touch, .moveToFront: (touch, [item.stamp, item.key])
        case .delete: (delete, [item.key])
        }
    }
}

extension Query {
    /// Returns a `SELECT` of `columns` from the table of items. Numbers are part of the text.
    public func select(_ columns: String) -> String {
        var conditions: [String] = []
        if let group { conditions.append("grp = \(group)") }
        if let scores { conditions.append("score >= \(scores.lowerBound) AND score < \(scores.upperBound)") }
        if let keys { conditions.append("key >= \(keys.lowerBound) AND key < \(keys.upperBound)") }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let rows = "SELECT \(columns) FROM item\(filter)"
        return switch order {
        case .none: rows
        case .list: rows + " ORDER BY place"
        case .scoreAscending: rows + " ORDER BY score"
        case .scoreDescending: rows + " ORDER BY score DESC"
        }
    }
}
