// Access of a filter to other rows: over links, and to the elements of lists. Made per row, for filters that need it.
import Foundation

/// Number of a list's elements that must pass.
enum Quantifier: Sendable, Hashable {
    case any, all, none
}

/// Reduction of a list to one value. Nulls are counted, and otherwise skipped. Without values, the count and the sum
/// are 0 and the others are null.
enum Aggregate: Sendable, Hashable {
    case count, sum, min, max, average
}

/// A row with access to other rows.
struct Reach {
    let source: any RowSource
    /// Links of the row's table.
    let links: TableLinks?
    let id: ObjectID

    /// Returns whether enough elements of a list pass. Stops at the first element that decides.
    func matches(_ row: RowReader, _ column: Int, _ quantifier: Quantifier, _ condition: FilterProgram) -> Bool {
        var isDecided = false
        forEachElement(of: row, column) { element, reach in
            isDecided = condition.matches(element, reach) != (quantifier == .all)
            return !isDecided
        }
        return isDecided == (quantifier == .any)
    }

    /// Row that a link leads to.
    func target(of row: RowReader, _ column: Int) -> (RowReader, Reach)? {
        Self.target(of: row, column, links, source).map { ($0.row, Reach(source: source, links: $0.links, id: $0.id)) }
    }

    /// Row at the end of a path of links, or nil if it ends early.
    func end(of way: [Int], from row: RowReader) -> (RowReader, Reach)? {
        Self.end(of: way, from: row, links, source).map { ($0.row, Reach(source: source, links: $0.links, id: $0.id)) }
    }

    private typealias Target = (row: RowReader, links: TableLinks?, id: ObjectID)

    @inline(__always)
    private static func target(
        of row: RowReader, _ column: Int, _ links: TableLinks?, _ source: any RowSource
    ) -> Target? {
        guard !row.isNull(column), let table = links?.target(column) else { return nil }
        let id = ObjectID(rawValue: row.slot(column))
        // The storage retains the table. Retaining it for a path of three links would take a dozen operations per row.
        return table._withUnsafeGuaranteedRef { table in source.row(table, id).map { ($0, table.links, id) } }
    }

    /// Row at the end of a path of links, without a `Reach`, which sorting does not need.
    /// - Parameter links: links of the row's table.
    static func end(
        of way: [Int], from row: RowReader, _ links: TableLinks?, _ source: any RowSource
    ) -> (row: RowReader, links: TableLinks?, id: ObjectID)? {
        var end: Target = (row, links, .none)
        for column in way {
            guard let next = target(of: end.row, column, end.links, source) else { return nil }
            end = next
        }
        return end
    }

    /// Visits the elements of a list in order until `body` returns false.
    private func forEachElement(of row: RowReader, _ column: Int, _ body: (RowReader, Reach) -> Bool) {
        guard let list = links?.list(column), let elements = source.storage.tablesByID[list.elements] else {
            if let (target, reach) = target(of: row, column) { _ = body(target, reach) }
            return
        }
        for id in list.order.ids(of: self.id, in: source) {
            guard let element = source.row(elements, id) else { continue }
            let reach = Reach(source: source, links: elements.links, id: id)
            if elements.schema.columns[ListTable.value].type != .link {
                if !body(element, reach) { return }
            } else if let (target, targetReach) = reach.target(of: element, ListTable.value) {
                if !body(target, targetReach) { return }
            }
        }
    }

    func aggregate(_ row: RowReader, _ column: Int, _ aggregate: Aggregate, _ of: Int?) -> ColumnValue {
        if aggregate == .count {
            guard let list = links?.list(column) else { return .int(target(of: row, column) == nil ? 0 : 1) }
            return .int(list.order.count(of: id, in: source))
        }
        var value = AggregateValue(aggregate)
        forEachElement(of: row, column) { element, reach in
            let column = of ?? ListTable.value
            if let schema = reach.links.flatMap({ source.storage.tablesByID[$0.table] })?.schema.columns[column] {
                value.add(element.value(column, schema))
            }
            return true
        }
        return value.result
    }
}

/// An aggregate being computed. Null and, except in a count, NaN are ignored.
struct AggregateValue {
    private let aggregate: Aggregate
    private var count = 0
    /// The sum as long as all values and it are integers, or the extreme if it is an integer. `Double`s decide which
    /// value is the extreme.
    private var integer: Int? = 0
    private var number = 0.0
    private var isDate = false

    init(_ aggregate: Aggregate) { self.aggregate = aggregate }

    mutating func add(_ value: ColumnValue) {
        guard let next = Self.number(value), !next.isNaN || aggregate == .count else { return }
        if case .date = value { isDate = true }
        var nextInteger: Int?
        if case .int(let value) = value { nextInteger = value }
        defer { count += 1 }
        switch aggregate {
        case .count: break
        case .sum, .average:
            number += next
            integer = integer.flatMap { sum in
                nextInteger.flatMap {
                    let (sum, wraps) = sum.addingReportingOverflow($0); return wraps ? nil : sum
                }
            }
        case .min, .max:
            if count > 0, !isBeyond(next, nextInteger) { return }
            number = next
            integer = nextInteger
        }
    }

    /// Whether a value lies beyond the extreme so far. Integers are compared exactly.
    private func isBeyond(_ next: Double, _ nextInteger: Int?) -> Bool {
        if let integer, let nextInteger { return aggregate == .min ? nextInteger < integer : nextInteger > integer }
        return aggregate == .min ? next < number : next > number
    }

    var result: ColumnValue {
        switch aggregate {
        case .count: .int(count)
        case .sum: integer.map { .int($0) } ?? .double(number)
        case .average: count == 0 ? .null : .double(number / Double(count))
        case .min, .max:
            if count == 0 {
                .null
            } else if isDate {
                .date(Date(timeIntervalSinceReferenceDate: number))
            } else {
                integer.map { .int($0) } ?? .double(number)
            }
        }
    }

    /// Compares as numbers, integers exactly. Null compares as in filters.
    static func admits(_ value: ColumnValue, _ comparison: Comparison, _ constant: ColumnValue) -> Bool {
        if case (.int(let a), .int(let b)) = (value, constant) { return comparison.admits(a, b) }
        let (a, b) = (number(value), number(constant))
        guard let a, let b else { return comparison.admitsNull(isSame: (a == nil) == (b == nil)) }
        return comparison.admits(a, b)
    }

    private static func number(_ value: ColumnValue) -> Double? {
        switch value {
        case .int(let value): Double(value)
        case .double(let value): value
        case .date(let value): value.timeIntervalSinceReferenceDate
        default: nil
        }
    }
}
