// Filters over links and lists.
//
//     dogs.where(\.owner == ada)
//     people.where(.any(\.friends, \.age > 30) && (\Person.friends).sum(\.age) < 200)
import StillingWellBasis

/// Passes objects whose link leads to `target`; for nil, objects whose link is nil. Passes none if `target` is not
/// stored. If `target` is of another store or class, the results are unusable; see `Results.where`.
public func == <Object: StoredObject, Target: StoredObject>(
    keyPath: KeyPath<Object, Target?>, target: Target?
) -> Filter<Object> { Filter(linkAt: keyPath, target) }

/// Passes objects whose link does not lead to `target`, or is nil; for nil, objects whose link leads to any object.
public func != <Object: StoredObject, Target: StoredObject>(
    keyPath: KeyPath<Object, Target?>, target: Target?
) -> Filter<Object> { !Filter(linkAt: keyPath, target) }

extension StoredObject {
    /// Returns the condition `make` builds for this object's id. If the object is not stored, no object passes it.
    func condition(_ make: (ObjectID) -> FilterExpression) -> FilterExpression {
        binding.map { .naming($0.home, make($0.id)) } ?? .none
    }
}

extension Filter {
    fileprivate init<Target: StoredObject>(linkAt keyPath: KeyPath<Object, Target?>, _ target: Target?) {
        let path = ColumnPath(keyPath)
        guard let target else {
            expression = .compare(path, .equal, .null, isOptional: true)
            return
        }
        let isTarget = target.condition { .compare(column: path.column, .equal, .link($0), isOptional: true) }
        expression = .along(path.links, isTarget)
    }

    /// Passes if at least one object of the list passes `condition`.
    public static func any<Target: StoredObject>(
        _ list: KeyPath<Object, List<Target>>, _ condition: Filter<Target>
    ) -> Filter { quantified(list, .any, condition.expression) }

    /// Passes if every object of the list passes `condition`, or the list is empty.
    public static func all<Target: StoredObject>(
        _ list: KeyPath<Object, List<Target>>, _ condition: Filter<Target>
    ) -> Filter { quantified(list, .all, condition.expression) }

    /// Passes if no object of the list passes `condition`, or the list is empty.
    public static func none<Target: StoredObject>(
        _ list: KeyPath<Object, List<Target>>, _ condition: Filter<Target>
    ) -> Filter { quantified(list, .none, condition.expression) }

    /// Passes if at least one element of the list compares so to `value`, as in `.any(\.tags, .equal, "x")`.
    static func any<Value: StorableValue & ListElement>(
        _ list: KeyPath<Object, List<Value>>, _ comparison: Comparison, _ value: Value
    ) -> Filter {
        quantified(
            list, .any,
            .compare(column: ListTable.value, comparison, value._columnValue, isOptional: Value._isOptional))
    }

    fileprivate static func quantified<Element>(
        _ list: KeyPath<Object, List<Element>>, _ quantifier: Quantifier, _ condition: FilterExpression
    ) -> Filter {
        let path = ColumnPath(list)
        return Filter(.along(path.links, .quantified(column: path.column, quantifier, condition)))
    }
}

extension KeyPath where Root: StoredObject {
    /// Passes if the list contains this element.
    public func contains<Element: StorableValue & ListElement>(_ value: Element) -> Filter<Root>
    where Value == List<Element> { .any(self, .equal, value) }

    /// Passes if the list contains this object.
    public func contains<Target: StoredObject>(_ object: Target) -> Filter<Root> where Value == List<Target> {
        .quantified(self, .any, object.condition { .identity($0) })
    }

    /// The sum of a property over a list, without nulls. 0 for an empty list.
    public func sum<Target: StoredObject, Number: StorableValue>(_ keyPath: KeyPath<Target, Number>)
        -> ListAggregate<Root> where Value == List<Target>
    { ListAggregate(self, .sum, keyPath) }

    /// The smallest value of a property over a list. nil for a list without values.
    public func min<Target: StoredObject, Number: StorableValue>(_ keyPath: KeyPath<Target, Number>)
        -> ListAggregate<Root> where Value == List<Target>
    { ListAggregate(self, .min, keyPath) }

    /// The largest value of a property over a list. nil for a list without values.
    public func max<Target: StoredObject, Number: StorableValue>(_ keyPath: KeyPath<Target, Number>)
        -> ListAggregate<Root> where Value == List<Target>
    { ListAggregate(self, .max, keyPath) }

    /// The average of a property over a list. nil for a list without values.
    public func average<Target: StoredObject, Number: StorableValue>(_ keyPath: KeyPath<Target, Number>)
        -> ListAggregate<Root> where Value == List<Target>
    { ListAggregate(self, .average, keyPath) }
}

/// An aggregate over a list of objects, to compare with a constant.
public struct ListAggregate<Object: StoredObject>: Sendable {
    private let path: ColumnPath
    private let aggregate: Aggregate
    private let column: Int
    /// Whether the result is a minimum or maximum of `Float` values.
    private let isFloat: Bool

    fileprivate init<Target: StoredObject, Number: StorableValue>(
        _ list: KeyPath<Object, List<Target>>, _ aggregate: Aggregate, _ keyPath: KeyPath<Target, Number>
    ) {
        path = ColumnPath(list)
        self.aggregate = aggregate
        column = ModelLayout.of(Target.self).column(keyPath)
        isFloat = (aggregate == .min || aggregate == .max) && Stored<Number>.isFloat
        stopUnless(
            [.int, .double, .date].contains(Number._columnType),
            "\(keyPath) is no number and no date: only those have a sum, an average and ends")
    }

    fileprivate func has(_ comparison: Comparison, _ value: some StorableValue) -> Filter<Object> {
        let value = isFloat ? value._columnValue.asFloat : value._columnValue
        return Filter(.aggregate(path, aggregate, of: column, comparison, value))
    }

    /// Equal; numbers compare by value. `nil` equals the minimum, maximum and average of a list without values.
    public static func == (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.equal, value) }
    /// Not equal; `nil` differs from every value.
    public static func != (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.notEqual, value) }
    /// Less. Comparisons with `nil` are false.
    public static func < (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.less, value) }
    /// Less or equal. Comparisons with `nil` are false.
    public static func <= (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.lessOrEqual, value) }
    /// Greater. Comparisons with `nil` are false.
    public static func > (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.greater, value) }
    /// Greater or equal. Comparisons with `nil` are false.
    public static func >= (list: Self, value: some StorableValue) -> Filter<Object> { list.has(.greaterOrEqual, value) }
}
