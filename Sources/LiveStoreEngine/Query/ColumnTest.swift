// What a filter asks of one column, and everything that follows from it: which rows pass, which values an index is asked
// for, what the same condition looks like otherwise. A further operator on a column is a case here; the compiler leads
// through the rest of this file, and on to its text (`QueryPrinter`).
import Foundation

/// How a value is compared with a constant.
public enum Comparison: Sendable, Hashable {
    /// As the operator of this name.
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// Whether a value that stands in `order` (negative, zero, positive) to the constant passes.
    @inline(__always)
    func admits(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

package enum ColumnTest: Sendable, Hashable {
    case compare(Comparison, ColumnValue)
    case oneOf(Set<ColumnValue>)
    case text(TextPattern)

    /// Allocates nothing, except for `oneOf` over strings and data.
    @inline(__always)
    func passes(_ row: RowReader, _ column: Int, isOptional: Bool) -> Bool {
        switch self {
        case .compare(let comparison, let value): row.compare(column, value, comparison, isOptional)
        case .oneOf(let values): values.contains { row.compare(column, $0, .equal, isOptional) }
        case .text(let pattern): !(isOptional && row.isNull(column)) && pattern.matches(row.bytes(column))
        }
    }

    // MARK: The same, said otherwise

    /// The simplest filter that asks this of a column.
    func normal(_ column: Int, isOptional: Bool) -> FilterExpression {
        switch self {
        case .oneOf(let values) where values.isEmpty: .none
        case .oneOf(let values) where values.count == 1:
            .compare(column: column, .equal, values.first!, isOptional: isOptional)
        case .compare(.less, .null), .compare(.lessOrEqual, .null), .compare(.greater, .null),
            .compare(.greaterOrEqual, .null):
            .none
        case .compare(.equal, .null) where !isOptional: .none
        case .compare(.notEqual, .null) where !isOptional: .all
        case .compare, .oneOf, .text: .column(column, self, isOptional: isOptional)
        }
    }

    /// What passes exactly where this does not. Only equality has one: null and not a number are in no order, so they pass
    /// neither `<` nor `>=`.
    var opposite: ColumnTest? {
        switch self {
        case .compare(.equal, let value): .compare(.notEqual, value)
        case .compare(.notEqual, let value): .compare(.equal, value)
        case .compare, .oneOf, .text: nil
        }
    }

    // MARK: For indexes

    /// The only values that pass; nil where others may.
    var values: [ColumnValue]? {
        switch self {
        case .compare(.equal, let value): [value]
        case .oneOf(let values): Array(values)
        case .compare, .text: nil
        }
    }

    /// What a text begins with that passes; nil where it may begin otherwise.
    var prefix: [UInt8]? {
        switch self {
        case .text(let pattern) where pattern.match == .beginsWith && !pattern.foldsCase: pattern.bytes
        case .compare, .oneOf, .text: nil
        }
    }

    /// The end of the values that pass: nothing above it does, or below it; nil where both may.
    var end: (value: ColumnValue, isUpper: Bool)? {
        switch self {
        case .compare(.less, let value), .compare(.lessOrEqual, let value): (value, true)
        case .compare(.greater, let value), .compare(.greaterOrEqual, let value): (value, false)
        case .compare, .oneOf, .text: nil
        }
    }
}

extension RowReader {
    fileprivate func compare(
        _ column: Int, _ value: ColumnValue, _ comparison: Comparison, _ isOptional: Bool
    ) -> Bool {
        if isOptional, isNull(column) { return nullCompare(value == .null, comparison) }
        switch value {
        case .null: return comparison == .notEqual
        case .int(let constant): return comparison.admits(order(Int._read(self, column), constant))
        case .bool(let constant):
            return comparison.admits(order(Bool._read(self, column) ? 1 : 0, constant ? 1 : 0))
        case .double(let constant): return floating(Double._read(self, column), constant, comparison)
        case .date(let constant):
            return floating(Double._read(self, column), constant.timeIntervalSinceReferenceDate, comparison)
        case .string(let constant):
            return comparison.admits(order(bytes(column), utf8: constant))
        case .data(let constant):
            return constant.withUnsafeBytes { comparison.admits(order(bytes(column), $0)) }
        case .uuid(let constant):
            return withUnsafeBytes(of: UUID._read(self, column).uuid) { value in
                withUnsafeBytes(of: constant.uuid) { comparison.admits(order(value, $0)) }
            }
        case .link(let constant):
            let id = slot(column)
            return comparison.admits(id < constant.rawValue ? -1 : (id == constant.rawValue ? 0 : 1))
        }
    }

    /// Null meets only (in)equality.
    private func nullCompare(_ isNullConstant: Bool, _ comparison: Comparison) -> Bool {
        switch comparison {
        case .equal: isNullConstant
        case .notEqual: !isNullConstant
        case .less, .lessOrEqual, .greater, .greaterOrEqual: false
        }
    }

    @inline(__always)
    private func order(_ a: Int, _ b: Int) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

    /// Not a number is in no order and equals nothing.
    private func floating(_ a: Double, _ b: Double, _ comparison: Comparison) -> Bool {
        if a.isNaN || b.isNaN { return comparison == .notEqual }
        return comparison.admits(a < b ? -1 : (a == b ? 0 : 1))
    }

    private func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(a.count, b.count)
        let bytes = common == 0 ? 0 : Int(memcmp(a.baseAddress!, b.baseAddress!, common))
        return bytes != 0 ? bytes : a.count - b.count
    }

    private func order(_ a: UnsafeRawBufferPointer, utf8 constant: String) -> Int {
        var constant = constant
        return constant.withUTF8 { order(a, UnsafeRawBufferPointer($0)) }
    }
}
