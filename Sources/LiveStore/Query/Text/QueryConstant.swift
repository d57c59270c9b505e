// Constants of a query's text, and how each becomes a value of the column it is compared with. A conversion never changes
// which rows pass: an integer column is below 5.5 where it is at most 5.
import Foundation

/// A constant, and where the text has it.
struct QueryConstant {
    let offset: Int
    let value: ColumnValue
    /// How a fault names it.
    let described: String
}

extension QueryConstant {
    /// The condition that a property compares so with this constant.
    func compared(_ path: QueryPath, _ comparison: Comparison) throws(QueryTextFault) -> FilterExpression {
        let column = path.column
        let isOptional = path.schema.isOptional
        if value == .null {
            guard comparison == .equal || comparison == .notEqual else {
                throw QueryTextFault(offset: offset, reason: "NULL is in no order: use == or !=")
            }
            return .compare(column: column, comparison, .null, isOptional: isOptional)
        }
        if path.schema.type == .int, case .double(let number) = value {
            return Self.compare(column, comparison, number, isOptional: isOptional)
        }
        return .compare(column: column, comparison, try converted(path), isOptional: isOptional)
    }

    /// The value as one of the property's column; null stays null. Not for integers and fractions.
    func converted(_ path: QueryPath) throws(QueryTextFault) -> ColumnValue {
        switch (path.schema.type, value) {
        case (_, .null), (.int, .int), (.double, .double), (.bool, .bool), (.string, .string), (.date, .date),
            (.data, .data), (.uuid, .uuid):
            return value
        case (.double, .int(let number)):
            return .double(Double(number))
        case (.uuid, .string(let text)):
            if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        default: break
        }
        let remedy =
            switch path.schema.type {
            case .date, .data, .uuid: "; pass one as an argument, as in $0"
            default: ""
            }
        throw QueryTextFault(
            offset: offset,
            reason: "\(path.name) is \(path.schema.type.described), and cannot be compared with \(described)\(remedy)")
    }

    /// An integer column compared with a number that need not be one.
    private static func compare(
        _ column: Int, _ comparison: Comparison, _ number: Double, isOptional: Bool
    ) -> FilterExpression {
        func compare(_ comparison: Comparison, _ value: Int) -> FilterExpression {
            .compare(column: column, comparison, .int(value), isOptional: isOptional)
        }
        // What an impossible comparison passes depends on null being neither below nor above.
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
