// A row as a plain value. Observers keep such values, and queries are evaluated on them.
import Foundation
import StillingWell

struct RowValue: Equatable, Sendable, CustomStringConvertible {
    var id: ObjectID
    var key: Int
    var score: Int
    var weight: Double
    var isDone: Bool
    var title: String
    var due: Date?
    var group: Int?
    var mark: Int

    init(_ row: some StressRow) {
        id = row.objectID ?? ObjectID(rawValue: 0)
        key = row.key
        score = row.score
        weight = row.weight
        isDone = row.isDone
        title = row.title
        due = row.due
        group = row.group
        mark = row.mark
    }

    /// Returns the values that an observer of these columns is told. The other values are zeroed.
    func only(_ columns: [Column]?) -> RowValue {
        guard let columns else { return self }
        var row = RowValue(id: id)
        for column in columns { row.take(column.rawValue, from: self) }
        return row
    }

    private init(id: ObjectID) {
        (self.id, key, score, weight, isDone, title, mark) = (id, 0, 0, 0, false, "", 0)
    }

    /// Copies the value of one property other than the key from `other`.
    mutating func take(_ property: String, from other: RowValue) {
        switch property {
        case "score": score = other.score
        case "weight": weight = other.weight
        case "isDone": isDone = other.isDone
        case "title": title = other.title
        case "due": due = other.due
        case "group": group = other.group
        case "mark": mark = other.mark
        default: break
        }
    }

    func value(of property: String) -> ColumnValue {
        switch property {
        case "key": .int(key)
        case "score": .int(score)
        case "weight": .double(weight)
        case "isDone": .bool(isDone)
        case "title": .string(title)
        case "due": due.map { .date($0) } ?? .null
        case "group": group.map { .int($0) } ?? .null
        case "mark": .int(mark)
        default: .null
        }
    }

    /// All values by property name.
    var values: [String: ColumnValue] {
        let names = ["key", "score", "weight", "isDone", "title", "due", "group", "mark"]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, value(of: $0)) })
    }

    var description: String {
        let due = due.map { "\($0.timeIntervalSinceReferenceDate)" } ?? "nil"
        return "#\(id.rawValue) key \(key) score \(score) weight \(weight) isDone \(isDone)"
            + " title \(title.debugDescription) due \(due) group \(group.map(String.init) ?? "nil") written by commit \(mark & 0xffff_ffff) of writer \(mark >> 32)"
    }
}

/// The first difference of two lists of rows, with both values.
enum Difference {
    static func first(_ leftName: String, _ left: [RowValue], _ rightName: String, _ right: [RowValue]) -> String? {
        first(leftName, left.map { $0 }, rightName, right.map { $0 }, { $0.description })
    }

    static func first(_ leftName: String, _ left: [ObjectID], _ rightName: String, _ right: [ObjectID]) -> String? {
        first(leftName, left, rightName, right, { "#\($0.rawValue)" })
    }

    static func first<Row: Equatable>(
        _ leftName: String, _ left: [Row], _ rightName: String, _ right: [Row], _ text: (Row) -> String
    ) -> String? {
        if left == right { return nil }
        let common = min(left.count, right.count)
        let index = (0..<common).first { left[$0] != right[$0] } ?? common
        func line(_ name: String, _ rows: [Row]) -> String {
            "row \(index), \(name): \(index < rows.count ? text(rows[index]) : "none") (of \(rows.count))"
        }
        return line(leftName, left) + "\n" + line(rightName, right)
    }
}
