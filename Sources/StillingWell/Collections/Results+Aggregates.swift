// Aggregates over results. The extremes of the leading sort column are at the ends of the tree or index. For observed
// results the thread that keeps queries up to date also maintains requested aggregates, in the tree's nodes
// (Upkeep+Measures.swift). All others read the rows without making objects. `nil` and NaN are ignored.
import Foundation

/// A type that has a smallest and a largest value: numbers and `Date`.
public protocol MeasurableValue: StorableValue, Comparable {}
extension Int: MeasurableValue {}
extension Double: MeasurableValue {}
extension Date: MeasurableValue {}

/// A type that can be summed: numbers.
public protocol SummableValue: MeasurableValue {
    /// Type of a sum: `Int` for integers, `Double` for others.
    associatedtype Sum = Self
}

extension Int: SummableValue {}
extension Double: SummableValue {}

extension Results {
    /// Returns the smallest value of a property, or nil if there is no value. On the connection's scheduler. O(log n)
    /// for the leading sort column of observed results. For unobserved results the property's index, if it has one, is
    /// read from one end until an object passes. Otherwise, or if too many objects do not pass, as `sum(_:)`.
    public func min<Value: MeasurableValue>(_ keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: false)
    }

    /// Returns the smallest value of an optional property, without nulls. nil if there is no value.
    public func min<Value: MeasurableValue>(_ keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: false)
    }

    /// Returns the largest value of a property, or nil if there is no value. Otherwise same as `min(_:)`.
    public func max<Value: MeasurableValue>(_ keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: true)
    }

    /// Returns the largest value of an optional property, without nulls. nil if there is no value.
    public func max<Value: MeasurableValue>(_ keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: true)
    }

    /// Returns the sum of a property, 0 for no objects. The sum of any integer type is an `Int`, that of `Float` a
    /// `Double`. On the connection's scheduler.
    ///
    /// O(n). The first call on observed results requests that the store maintain the property's sum, minimum and
    /// maximum until the observers end. Calls are O(log n) once these have arrived with a later delivery, except while
    /// the connection shows own writes. That takes 8 bytes per object (16 for an optional integer). It is limited to
    /// eight properties, and not available for objects of a list, for results observed by other key paths only, or for
    /// results of which only the sections are observed.
    ///
    /// A sum of `Int` is exact; outside of the range of `Int` it is the nearest `Int`. A sum of `Double` is accumulated
    /// in double length. The order of the objects may change its last bits.
    public func sum<Value: SummableValue>(_ keyPath: KeyPath<Object, Value>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// Returns the sum of an optional property, without nulls.
    public func sum<Value: SummableValue>(_ keyPath: KeyPath<Object, Value?>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// Returns the mean of a property, or nil if there is no value. On the connection's scheduler. Complexity as
    /// `sum(_:)`.
    public func average<Value: SummableValue>(_ keyPath: KeyPath<Object, Value>) -> Double? {
        mean(keyPath, Value.self)
    }

    /// Returns the mean of an optional property, without nulls. nil if there is no value.
    public func average<Value: SummableValue>(_ keyPath: KeyPath<Object, Value?>) -> Double? {
        mean(keyPath, Value.self)
    }

    private func total<Value: SummableValue>(_ keyPath: PartialKeyPath<Object>, _: Value.Type) -> Value.Sum {
        switch checkedSummary(keyPath, Value.self) {
        case .integers(let summary): summary.sum as! Value.Sum
        case .doubles(let summary): summary.sum as! Value.Sum
        }
    }

    private func mean<Value: SummableValue>(_ keyPath: PartialKeyPath<Object>, _: Value.Type) -> Double? {
        switch checkedSummary(keyPath, Value.self) {
        case .integers(let summary): summary.mean
        case .doubles(let summary): summary.mean
        }
    }

    /// Returns the aggregates of a property. Reports an error if its minimum or maximum is out of the type's range.
    private func checkedSummary<Value: SummableValue>(_ keyPath: PartialKeyPath<Object>, _: Value.Type)
        -> MeasureSummary
    {
        let column = table.layout.column(keyPath)
        let summary = summary(column)
        if Value.self == Int.self || Value.self == Double.self { return summary }
        for isLast in [false, true] {
            let _: Value? = end(of: summary, column, isLast: isLast)
        }
        return summary
    }

    private func extreme<Value: MeasurableValue>(_ keyPath: PartialKeyPath<Object>, isLast: Bool) -> Value? {
        let column = table.layout.column(keyPath)
        if let end = indexedEnd(of: column, isLast: isLast) {
            return end.map { connection.value($0, of: table.schema.place(column)) }
        }
        if asked.list == nil, let term = asked.sort.first, term.column == column, term.over == nil, hasOrder {
            return end(term, isLast: isLast)
        }
        return end(of: summary(column), column, isLast: isLast)
    }

    private func end<Value: StorableValue>(of summary: MeasureSummary, _ column: Int, isLast: Bool) -> Value? {
        let value: ColumnValue? =
            switch summary {
            case .integers(let summary): (isLast ? summary.max : summary.min).map { .int($0) }
            case .doubles(let summary):
                (isLast ? summary.max : summary.min).map {
                    // A date is stored as its seconds.
                    table.schema.columns[column].type == .date
                        ? .date(Date(timeIntervalSinceReferenceDate: $0)) : .double($0)
                }
            }
        return value.map { connection.value($0, of: table.schema.place(column)) }
    }

    private func summary(_ column: Int) -> MeasureSummary {
        if let known = knownSummary(column) ?? scannedSummary(of: column) { return known }
        var sum = ColumnSum(column, of: table.schema)
        for id in objectIDs { connection.rowForGetter(table, id).map { sum.add($0) } }
        return sum.summary
    }

    /// Returns the aggregates that the tree's nodes hold, or nil. If they are missing, requests them. nil while own
    /// writes, or another version than the delivered one, are shown.
    func knownSummary(_ column: Int) -> MeasureSummary? {
        guard asked.list == nil, connection.transaction == nil, connection.showsDeliveredVersion,
            let delivered = deliveredQuery
        else { return nil }
        let rows = rows
        if let summary = rows.tree.summary(of: column, in: rows.ranks) { return summary }
        connection.measure(delivered, column)
        return nil
    }

    /// Returns the value at one end of the order, ignoring null and NaN.
    private func end<Value: MeasurableValue>(_ term: SortTerm, isLast: Bool) -> Value? {
        let column = table.schema.columns[term.column]
        let ordered = SortKeyBytes.ordered(column, ascending: term.ascending)
        let (rows, ranks) = (rows.tree, rows.ranks)
        let lower = ordered.lower.withUnsafeBytes { rows.lowerBound(of: SortKeyBound(bytes: $0)) }
        let upper = ordered.upper?.withUnsafeBytes { rows.lowerBound(of: SortKeyBound(bytes: $0)) } ?? rows.count
        let first = Swift.max(lower, ranks.lowerBound)
        let last = Swift.min(upper, ranks.upperBound) - 1
        guard first <= last else { return nil }
        let key = rows.entry(at: isLast == term.ascending ? last : first).key
        return connection.value(
            SortKeyLayout([term], table.schema).values(in: key.bytes[...])[0], of: table.schema.place(term.column))
    }
}

extension ColumnValue {
    /// The value without its wrapper. nil for null and for a link.
    var plain: (any StorableValue)? {
        switch self {
        case .null, .link: nil
        case .int(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        }
    }
}
