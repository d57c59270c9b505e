// Tests of one column in a filter: passing rows, values for an index lookup, and equivalent conditions. A new operator
// on a column is a case here. The compiler then finds the rest of this file and its text form (`QueryPrinter`).
import Foundation

/// Comparison of a value with a constant.
enum Comparison: Sendable, Hashable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// Whether a value passes. NaN has no order and equals nothing.
    @inline(__always)
    func admits<Value: Comparable>(_ value: Value, _ constant: Value) -> Bool {
        switch self {
        case .equal: value == constant
        case .notEqual: value != constant
        case .less: value < constant
        case .lessOrEqual: value <= constant
        case .greater: value > constant
        case .greaterOrEqual: value >= constant
        }
    }

    /// Whether a null value or constant passes, which is possible only for equality and inequality.
    func admitsNull(isSame: Bool) -> Bool { self == .equal ? isSame : self == .notEqual && !isSame }
}

enum ColumnTest: Sendable, Hashable {
    case compare(Comparison, ColumnValue)
    case oneOf(ValueSet)
    case text(TextPattern)

    @inline(__always)
    func passes(_ row: RowReader, _ column: Int, isOptional: Bool) -> Bool {
        switch self {
        case .compare(let comparison, let value): row.compare(column, value, comparison, isOptional)
        case .oneOf(let set): set.contains(row, column, isOptional: isOptional)
        case .text(let pattern): !(isOptional && row.isNull(column)) && pattern.matches(row.bytes(column))
        }
    }

    // MARK: Equivalent conditions

    /// Filter with the same meaning, simpler if possible.
    func normal(_ column: Int, isOptional: Bool) -> FilterExpression {
        switch self {
        case .oneOf(let set) where set.values.isEmpty: .none
        case .oneOf(let set) where set.values.count == 1:
            .compare(column: column, .equal, set.values.first!, isOptional: isOptional)
        case .compare(.less, .null), .compare(.lessOrEqual, .null), .compare(.greater, .null),
            .compare(.greaterOrEqual, .null):
            .none
        case .compare(.equal, .null) where !isOptional: .none
        case .compare(.notEqual, .null) where !isOptional: .all
        case .compare, .oneOf, .text: .column(column, self, isOptional: isOptional)
        }
    }

    /// Test that passes exactly the other values. Only equality and inequality have one: null and NaN pass neither `<`
    /// nor `>=`.
    var opposite: ColumnTest? {
        switch self {
        case .compare(.equal, let value): .compare(.notEqual, value)
        case .compare(.notEqual, let value): .compare(.equal, value)
        case .compare, .oneOf, .text: nil
        }
    }

    /// Part of a `QueryIdentity`. Changing it would lose data that is stored on disk for a query.
    func identity(_ column: Int, isOptional: Bool) -> String {
        switch self {
        case .compare(let comparison, let value):
            "compare \(column) \(comparison) \(QueryIdentity.words(value)) \(isOptional)"
        case .oneOf(let set):
            "one \(column) \(isOptional) " + QueryIdentity.list("of", set.values.map(QueryIdentity.words).sorted())
        case .text(let pattern):
            "text \(column) \(pattern.match) \(QueryIdentity.hex(pattern.bytes)) \(pattern.foldsCase) \(isOptional)"
        }
    }

    /// Equivalent test for many rows: an equality of bytes compares lengths first, and prepares its bytes once.
    var prepared: ColumnTest {
        guard case .compare(.equal, let value) = self else { return self }
        return switch value {
        case .string, .data, .uuid: .oneOf(ValueSet([value]))
        case .null, .int, .double, .bool, .date, .link: self
        }
    }

    // MARK: For indexes

    /// The only values that pass, or nil if other values may.
    var values: [ColumnValue]? {
        switch self {
        case .compare(.equal, let value): [value]
        case .oneOf(let set): Array(set.values)
        case .compare, .text: nil
        }
    }

    /// Prefix of all texts that pass, or nil if none is known.
    var prefix: [UInt8]? {
        switch self {
        case .text(let pattern) where pattern.match == .beginsWith && !pattern.foldsCase: pattern.bytes
        case .compare, .oneOf, .text: nil
        }
    }

    /// Upper or lower bound that an order comparison sets, or nil for another test.
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
        if isOptional, isNull(column) { return comparison.admitsNull(isSame: value == .null) }
        switch value {
        case .null: return comparison == .notEqual
        case .int(let constant): return comparison.admits(Int._read(self, column), constant)
        case .bool(let constant): return comparison.admits(Bool._read(self, column) ? 1 : 0, constant ? 1 : 0)
        case .double(let constant): return comparison.admits(Double._read(self, column), constant)
        case .date(let constant):
            return comparison.admits(Double._read(self, column), constant.timeIntervalSinceReferenceDate)
        case .string(var constant):
            return constant.withUTF8 { comparison.admits(order(bytes(column), UnsafeRawBufferPointer($0)), 0) }
        case .data(let constant): return constant.withUnsafeBytes { comparison.admits(order(bytes(column), $0), 0) }
        case .uuid(let constant):
            return withUnsafeBytes(of: UUID._read(self, column).uuid) { value in
                withUnsafeBytes(of: constant.uuid) { comparison.admits(order(value, $0), 0) }
            }
        case .link(let constant): return comparison.admits(slot(column), constant.rawValue)
        }
    }

    /// Compares bytes. Returns a negative number, zero or a positive number.
    private func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(a.count, b.count)
        let bytes = common == 0 ? 0 : Int(memcmp(a.baseAddress!, b.baseAddress!, common))
        return bytes != 0 ? bytes : a.count - b.count
    }
}
