// Numbers about the objects that results show. The smallest and the largest value of the leading sort column stand at
// the ends of the tree, where there is one; everything else goes over the rows, of which no objects are made. `nil` and what
// is not a number count for nothing.
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
    var _double: Double { get }
    /// An `Int` that grows too large stays at the end of its range.
    static func _sum(_ values: (_ add: (Self) -> Void) -> Void) -> Sum
}

extension Int: SummableValue {
    public var _double: Double { Double(self) }

    public static func _sum(_ values: (_ add: (Int) -> Void) -> Void) -> Int {
        var low = 0
        // How often the sum has gone round, so that it may leave the range and come back.
        var rounds = 0
        values { value in
            let (next, overflow) = low.addingReportingOverflow(value)
            low = next
            if overflow { rounds += value < 0 ? -1 : 1 }
        }
        return rounds == 0 ? low : (rounds > 0 ? .max : .min)
    }
}

extension Double: SummableValue {
    public var _double: Double { self }

    public static func _sum(_ values: (_ add: (Double) -> Void) -> Void) -> Double {
        var sum = 0.0
        values { sum += $0 }
        return sum
    }
}

extension Results {
    /// The smallest value of a property; nil without one. On the connection's scheduler. O(log n) for the leading sort
    /// column, otherwise O(n).
    public func min<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: false) { $0 < $1 }
    }

    /// The smallest value of an optional property, nulls left out; nil without one. As for others.
    public func min<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: false) { $0 < $1 }
    }

    /// The largest value of a property; nil without one. On the connection's scheduler. O(log n) for the leading sort
    /// column, otherwise O(n).
    public func max<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(keyPath, isLast: true) { $0 > $1 }
    }

    /// The largest value of an optional property, nulls left out; nil without one. As for others.
    public func max<Value: MeasurableValue>(of keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(keyPath, isLast: true) { $0 > $1 }
    }

    /// The sum of a property, 0 where there is nothing to add; beyond the range of `Int` its nearer end. Of other integers
    /// it is an `Int`, of `Float` a `Double`. On the connection's scheduler. O(n).
    public func sum<Value: SummableValue>(of keyPath: KeyPath<Object, Value>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// The sum of an optional property, nulls left out. As for others.
    public func sum<Value: SummableValue>(of keyPath: KeyPath<Object, Value?>) -> Value.Sum {
        total(keyPath, Value.self)
    }

    /// The mean of a property's values; nil without one. On the connection's scheduler. O(n).
    public func average<Value: SummableValue>(of keyPath: KeyPath<Object, Value>) -> Double? {
        mean(keyPath, Value.self)
    }

    /// The mean of an optional property, nulls left out; nil without a value. As for others.
    public func average<Value: SummableValue>(of keyPath: KeyPath<Object, Value?>) -> Double? {
        mean(keyPath, Value.self)
    }

    private func total<Value: SummableValue>(_ keyPath: PartialKeyPath<Object>, _: Value.Type) -> Value.Sum {
        Value._sum { add in forEachValue(table.layout.column(keyPath), add) }
    }

    private func mean<Value: SummableValue>(_ keyPath: PartialKeyPath<Object>, _ type: Value.Type) -> Double? {
        var sum = 0.0
        var count = 0.0
        forEachValue(table.layout.column(keyPath)) { (value: Value) in
            sum += value._double
            count += 1
        }
        return count == 0 ? nil : sum / count
    }

    private func extreme<Value: MeasurableValue>(
        _ keyPath: PartialKeyPath<Object>, isLast: Bool, _ precedes: (Value, Value) -> Bool
    ) -> Value? {
        let column = table.layout.column(keyPath)
        if asked.list == nil, let term = asked.sort.first, term.column == column, term.over == nil, hasOrder {
            return end(term, isLast: isLast)
        }
        var best: Value?
        forEachValue(column) { (value: Value) in
            if best.map({ precedes(value, $0) }) ?? true { best = value }
        }
        return best
    }

    private func forEachValue<Value: MeasurableValue>(_ column: Int, _ body: (Value) -> Void) {
        let isOptional = table.schema.columns[column].isOptional
        func take(_ row: RowReader) {
            // A row older than the column has the zero that its property reads; an optional one has none.
            if isOptional, row.isNull(column) { return }
            do throws(UnknownValue) {
                let value = try Value._read(row, column)
                if value == value { body(value) }
            } catch {
                body(connection.goOn(after: error, in: table.schema.place(column)))
            }
        }
        if forEachRow(take) { return }
        for id in objectIDs { connection.rowForGetter(table, id).map(take) }
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
