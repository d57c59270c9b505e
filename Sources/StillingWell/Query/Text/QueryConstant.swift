// Constants in the text of a query, and their conversion to the type of a column. A fraction that is compared with an
// integer column becomes an integer that the same rows pass: the column is below 5.5 if it is at most 5.
import Foundation

struct QueryConstant {
    let offset: Int
    let value: ColumnValue
    let described: String
    var type: String?
}

extension QueryConstant {
    func compared(_ path: QueryPath, _ comparison: Comparison) throws(QueryTextFault) -> FilterExpression {
        let (column, schema) = try path.column()
        let isLink = schema.type == .link
        if comparison != .equal, comparison != .notEqual, value == .null || isLink {
            throw QueryTextFault(offset, "\(isLink ? path.name : "NULL") is in no order: use == or !=")
        }
        if schema.type == .int, case .double(let number) = value {
            return Self.compare(column, comparison, number, isOptional: schema.isOptional)
        }
        // A link may always be null.
        return .compare(column: column, comparison, try converted(path), isOptional: isLink || schema.isOptional)
    }

    /// Returns the value converted to the column at a path's end. Null stays null. Not for fractions compared with
    /// integers.
    func converted(_ path: QueryPath) throws(QueryTextFault) -> ColumnValue {
        let schema = try path.column().schema
        let type = schema.type
        if type == .link { try checkIsObject(of: schema.target) }
        switch (type, value) {
        case (_, .null), (.int, .int), (.double, .double), (.bool, .bool), (.string, .string), (.date, .date),
            (.data, .data), (.uuid, .uuid), (.link, .link):
            return value
        case (.double, .int(let number)):
            return .double(Double(number))
        case (.uuid, .string(let text)):
            if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        default: break
        }
        let remedy =
            switch type {
            case .date, .data, .uuid: "; pass one as an argument, as in $0"
            case .link: "; pass an object as an argument, as in $0"
            default: ""
            }
        throw QueryTextFault(
            offset, "\(path.name) is \(type.described), and cannot be compared with \(described)\(remedy)")
    }

    /// The same constant with a number rounded to the nearest `Float`.
    var asFloat: QueryConstant {
        QueryConstant(offset: offset, value: value.asFloat, described: described, type: type)
    }

    func number(_ path: QueryPath) throws(QueryTextFault) -> ColumnValue {
        switch value {
        case .int, .double, .date, .null: return value
        default:
            throw QueryTextFault(
                offset, "what \(path.name) comes to is a number, and cannot be compared with \(described)")
        }
    }

    func identity(_ path: QueryPath, _ comparison: Comparison) throws(QueryTextFault) -> FilterExpression {
        guard case .link(let id) = value, comparison == .equal || comparison == .notEqual else {
            throw QueryTextFault(
                offset, "\(path.name) has objects: compare them by == or != with one, as an argument, as in $0")
        }
        try checkIsObject(of: path.lists.last.flatMap { path.table.columns[$0.column].target })
        return comparison == .equal ? .identity(id) : .not(.identity(id))
    }

    /// Throws if the object is of another class than expected: its id would mean another object there.
    func checkIsObject(of expected: String?) throws(QueryTextFault) {
        guard let type, let expected, type != expected else { return }
        throw QueryTextFault(offset, "\(StoreError.otherClass(type: type, expected: expected))")
    }

    private static func compare(
        _ column: Int, _ comparison: Comparison, _ number: Double, isOptional: Bool
    ) -> FilterExpression {
        func compare(_ comparison: Comparison, _ value: Int) -> FilterExpression {
            .compare(column: column, comparison, .int(value), isOptional: isOptional)
        }
        // A comparison that every integer passes still excludes null, which is neither below nor above a number.
        let never = FilterExpression.none
        let whenSet: FilterExpression = isOptional ? .compare(column: column, .notEqual, .null, isOptional: true) : .all
        if number.isNaN { return comparison == .notEqual ? .all : never }
        if let whole = Int(exactly: number) { return compare(comparison, whole) }
        switch comparison {
        case .equal: return never
        case .notEqual: return .all
        case .less, .lessOrEqual:
            if number >= 0x1p63 { return whenSet }
            return number < -0x1p63 ? never : compare(.lessOrEqual, Int(number.rounded(.down)))
        case .greater, .greaterOrEqual:
            if number < -0x1p63 { return whenSet }
            return number >= 0x1p63 ? never : compare(.greaterOrEqual, Int(number.rounded(.up)))
        }
    }
}

extension ColumnValue {
    /// The value with a number rounded to the nearest `Float`. A finite number beyond the range of `Float` is
    /// unchanged.
    var asFloat: ColumnValue {
        let number: Double
        switch self {
        case .double(let value): number = value
        case .int(let value): number = Double(value)
        case .null, .bool, .string, .date, .data, .uuid, .link: return self
        }
        let nearest = Float(number)
        return nearest.isFinite || !number.isFinite ? .double(Double(nearest)) : self
    }
}
