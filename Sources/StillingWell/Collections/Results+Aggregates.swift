// Numbers about the objects that results show. The smallest and the largest value of the leading sort column stand at
// the ends of the tree, where there is one. Of results that are observed upkeep keeps what is asked for in the tree's nodes,
// from the first time on (Upkeep+Measures.swift). Everything else goes over the rows, of which no objects are made. `nil` and
// what is not a number count for nothing.
import Foundation

/// The types that have a smallest and a largest value: numbers and `Date`.
public protocol MeasurableValue: StorableValue, Comparable {}
extension Int: MeasurableValue {}
extension Double: MeasurableValue {}
extension Date: MeasurableValue {}

/// The types that can be added up: numbers.
public protocol SummableValue: MeasurableValue {
    /// What a sum is: `Int` of integers, `Double` of others.
    associatedtype Sum = Self
}

extension Int: SummableValue {}
extension Double: SummableValue {}

extension Results {
    /// The smallest value of a property; nil without one. On the connection's scheduler. O(log n) for the leading sort
    /// column, and as `sum` for others.
    public func min<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: false)
    }

    /// The smallest value of an optional property, nulls left out; nil without one. As for others.
    public func min<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: false)
    }

    /// The largest value of a property; nil without one. On the connection's scheduler. O(log n) for the leading sort
    /// column, and as `sum` for others.
    public func max<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: true)
    }

    /// The largest value of an optional property, nulls left out; nil without one. As for others.
    public func max<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: true)
    }

    /// The sum of a property, 0 where there is nothing to add. Of other integers than `Int` it is an `Int`, of `Float` a
    /// `Double`. On the connection's scheduler.
    ///
    /// O(n), but O(log n) for results that are observed: from the first time on that they are asked for a number about a
    /// property, upkeep keeps the sums, the smallest and the largest values of it, until the observers are gone. That takes eight
    /// bytes per object (sixteen for an optional `Int`). Not of more than eight properties, of the objects of a list, or of
    /// results that are observed by other key paths alone.
    ///
    /// A sum of `Int` is exact, and beyond the range of `Int` its nearer end. One of `Double` is kept with twice the digits:
    /// the order of the objects does not matter but where they cancel each other out nearly to nothing.
    public func sum<Value: SummableValue>(of keyPath: KeyPath<Object, Value>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// The sum of an optional property, nulls left out. As for others.
    public func sum<Value: SummableValue>(of keyPath: KeyPath<Object, Value?>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// The mean of a property's values; nil without one. On the connection's scheduler. As `sum`.
    public func average<Value: SummableValue>(of keyPath: KeyPath<Object, Value>) -> Double? {
        mean(keyPath, Value.self)
    }

    /// The mean of an optional property, nulls left out; nil without a value. As for others.
    public func average<Value: SummableValue>(of keyPath: KeyPath<Object, Value?>) -> Double? {
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

    /// The numbers of a property, none of which is out of the range of its type.
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

    /// What upkeep keeps of a column. Where it does not yet, it is asked to. Own writes are not in it, nor what properties
    /// show of others' after one.
    func knownSummary(_ column: Int) -> MeasureSummary? {
        guard asked.list == nil, connection.transaction == nil, connection.showsDeliveredVersion,
            let delivered = deliveredQuery
        else { return nil }
        let rows = rows
        if let summary = rows.tree.summary(of: column, in: rows.ranks) { return summary }
        connection.measure(delivered, column)
        return nil
    }

    /// The value at one end of the order, without those that are in none.
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
    /// The value itself; nil for null and for a link.
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
