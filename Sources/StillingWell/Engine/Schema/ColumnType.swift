// The types a column can have, and values of them as constants of queries, defaults and change reports.
import Foundation

/// What a column holds. Stored by raw value in the schema.
public enum ColumnType: String, Sendable, Codable {
    /// The values of the Swift type of this name.
    case int, double, bool, string, date, data, uuid
    /// The id of an object of another table, or of the same; null for none.
    case link
    /// The elements are rows of a table of their own; the slot counts how often the list was changed.
    case list

    /// The Swift type of the values.
    var swiftName: String {
        switch self {
        case .uuid: "UUID"
        default: rawValue.capitalized
        }
    }

    /// Whether values lie behind the slots of a row rather than in them.
    var isOutOfLine: Bool { self == .string || self == .data || self == .uuid }
}

/// One value of any column type. Dates are seconds since the reference date.
public enum ColumnValue: Sendable, Hashable {
    /// No value.
    case null
    /// Of an `Int` property.
    case int(Int)
    /// Of a `Double` property.
    case double(Double)
    /// Of a `Bool` property.
    case bool(Bool)
    /// Of a `String` property.
    case string(String)
    /// Of a `Date` property.
    case date(Date)
    /// Of a `Data` property.
    case data(Data)
    /// Of a `UUID` property.
    case uuid(UUID)
    /// The object that a link leads to.
    case link(ObjectID)
}

/// Equal where no query can tell them apart: strings by their bytes, as filters compare them, and not a number equals
/// itself, so that a query which names it is found again.
extension ColumnValue {
    public static func == (left: ColumnValue, right: ColumnValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): same(left, right)
        case (.bool(let left), .bool(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.date(let left), .date(let right)):
            same(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.link(let left), .link(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .int(let value): hasher.combine(value)
        case .double(let value): Self.hash(value, into: &hasher)
        case .bool(let value): hasher.combine(value)
        case .string(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .date(let value): Self.hash(value.timeIntervalSinceReferenceDate, into: &hasher)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .link(let value): hasher.combine(value)
        }
    }

    private static func same(_ left: Double, _ right: Double) -> Bool { left == right || left.isNaN && right.isNaN }

    private static func hash(_ value: Double, into hasher: inout Hasher) {
        // There are many bit patterns that are not a number; zero and minus zero hash alike by themselves.
        hasher.combine(value.isNaN ? .nan : value)
    }
}
