// A filter without its Swift types: what `Filter` builds, what is normalised, indexed and evaluated on rows.
// Strings and data compare as bytes. Null equals null, is in no order, and differs from every value. A column that is
// not optional is never null: where a row is older than the column, it compares as the zero that its property reads.
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

indirect enum FilterExpression: Sendable, Hashable {
    case all
    case none
    case compare(column: Int, Comparison, ColumnValue, isOptional: Bool = false)
    case oneOf(column: Int, Set<ColumnValue>, isOptional: Bool = false)
    case text(column: Int, TextPattern, isOptional: Bool = false)
    case and([FilterExpression])
    case or([FilterExpression])
    case not(FilterExpression)
    /// The row is this object's.
    case identity(ObjectID)
    /// The link leads somewhere, and what it leads to passes.
    case linked(column: Int, FilterExpression)
    /// So many of a list pass: the objects of a list of links; of a list of values, the rows that hold them in column
    /// `ListTable.value`. A link counts as a list of at most one.
    case quantified(column: Int, Quantifier, FilterExpression)
    /// What a list comes to: how many there are, or the sum and so on of a column of its objects; where `of` is nil,
    /// of its values.
    case aggregate(column: Int, Aggregate, of: Int?, Comparison, ColumnValue)

    /// Whether a row passes. Allocates nothing, except for `oneOf` over strings and data, and for links.
    /// - Parameter reach: where other rows are read; not needed unless `needsReach`.
    func matches(_ row: RowReader, _ reach: Reach? = nil) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .compare(let column, let comparison, let value, let isOptional):
            row.compare(column, value, comparison, isOptional)
        case .oneOf(let column, let values, let isOptional):
            values.contains { row.compare(column, $0, .equal, isOptional) }
        case .text(let column, let pattern, let isOptional):
            !(isOptional && row.isNull(column)) && pattern.matches(row.bytes(column))
        case .and(let parts): parts.allSatisfy { $0.matches(row, reach) }
        case .or(let parts): parts.contains { $0.matches(row, reach) }
        case .not(let part): !part.matches(row, reach)
        default: reach?.matches(self, row) ?? false
        }
    }

    /// The parts that must all hold. Nested conjunctions are one, `all` is no part; `none` stays.
    var conjuncts: [FilterExpression] {
        switch self {
        case .all: []
        case .and(let parts): parts.flatMap(\.conjuncts)
        default: [self]
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
        default: false
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
