// The types a column can have, and values of them as constants of queries, defaults and change reports.
import Foundation

/// What a column holds. Stored by raw value in the schema.
public enum ColumnType: String, Sendable, Codable {
    case int, double, bool, string, date, data, uuid

    /// Whether values lie behind the slots of a row rather than in them.
    var isOutOfLine: Bool { self == .string || self == .data || self == .uuid }
}

/// One value of any column type. Dates are seconds since the reference date.
public enum ColumnValue: Sendable, Hashable {
    case null
    case int(Int)
    case double(Double)
    case bool(Bool)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
}
