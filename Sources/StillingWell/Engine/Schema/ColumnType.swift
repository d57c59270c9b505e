// Column types, and values of columns outside of rows.
import Foundation

typealias ColumnType = _ColumnType

/// Type of a column. Stored by raw value in the schema.
public enum _ColumnType: String, Sendable, Codable {
    /// Values of the Swift type with this name.
    case int, double, bool, string, date, data, uuid
    /// Id of an object of the column's target table, or null for no object.
    case link
    /// A list. Its elements are rows of a table of their own; the slot counts changes of the list.
    case list

    /// Name of the Swift type of the values.
    var swiftName: String {
        switch self {
        case .uuid: "UUID"
        default: rawValue.capitalized
        }
    }

    /// Whether values are stored behind the slots of a row.
    var isOutOfLine: Bool { self == .string || self == .data || self == .uuid }
}

/// A value of a column of any type except a list.
public enum ColumnValue: Sendable, Hashable {
    /// No value.
    case null
    /// Value of an `Int` property.
    case int(Int)
    /// Value of a `Double` property.
    case double(Double)
    /// Value of a `Bool` property.
    case bool(Bool)
    /// Value of a `String` property.
    case string(String)
    /// Value of a `Date` property.
    case date(Date)
    /// Value of a `Data` property.
    case data(Data)
    /// Value of a `UUID` property.
    case uuid(UUID)
    /// Id of the object that a link leads to.
    case link(ObjectID)
}

/// Values are equal if no query can distinguish them. Strings are compared by bytes, as in filters. NaN equals itself,
/// so that a query with it is found again.
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
        // NaN has many bit patterns, which must hash alike. Zero and minus zero hash alike by themselves.
        hasher.combine(value.isNaN ? .nan : value)
    }
}
