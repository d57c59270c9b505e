// Filters: comparisons of key paths with constants, joined by `&&`, `||` and `!`.
//
//     items.where(\.score > 50 && \.done == false)
//     items.where { $0.title.contains("x") && !$0.done }

/// A condition on the properties of a model class and of linked objects: `\.owner?.name == "Ada"`, `\.friends.count >
/// 2`. A property read over a nil link is nil. Any thread.
public struct Filter<Object: StoredObject>: Sendable {
    let expression: FilterExpression

    init(_ expression: FilterExpression) { self.expression = expression }

    /// Passes every object.
    public static var all: Filter { Filter(.all) }

    init<Value: StorableValue>(_ keyPath: KeyPath<Object, Value>, _ comparison: Comparison, _ value: Value) {
        let path = ColumnPath(keyPath)
        let property = path.property(of: keyPath, Value.self)
        expression =
            property.type == .list
            ? .aggregate(path, .count, of: nil, comparison, value._columnValue)
            : .compare(path, comparison, value._columnValue, isOptional: property.isOptional)
    }
}

/// Equal; strings and data compare as bytes. `nil` equals `nil`.
public func == <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .equal, value) }

/// Not equal; `nil` differs from every value. Any thread, like all of these operators.
public func != <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .notEqual, value) }

/// Less; strings and data compare as bytes. Comparisons with `nil` are false.
public func < <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .less, value) }

/// Less or equal. Comparisons with `nil` are false.
public func <= <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .lessOrEqual, value) }

/// Greater. Comparisons with `nil` are false.
public func > <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .greater, value) }

/// Greater or equal. Comparisons with `nil` are false.
public func >= <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .greaterOrEqual, value) }

/// Both conditions hold. Any thread.
public func && <Object: StoredObject>(a: Filter<Object>, b: Filter<Object>) -> Filter<Object> {
    Filter(.and([a.expression, b.expression]))
}

/// At least one of the conditions holds. Any thread.
public func || <Object: StoredObject>(a: Filter<Object>, b: Filter<Object>) -> Filter<Object> {
    Filter(.or([a.expression, b.expression]))
}

/// The condition does not hold. An object whose comparison is false because of `nil` passes its negation. Any thread.
public prefix func ! <Object: StoredObject>(filter: Filter<Object>) -> Filter<Object> {
    Filter(.not(filter.expression))
}

/// The property is false. Any thread.
public prefix func ! <Object: StoredObject>(keyPath: KeyPath<Object, Bool>) -> Filter<Object> {
    Filter(keyPath, .equal, false)
}

/// The properties of a class in the block of `where`: key paths, whose methods such as `contains` then need no
/// parentheses.
@dynamicMemberLookup
public struct QueriedProperties<Object: StoredObject> {
    /// Key path of a property.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> KeyPath<Object, Value> { keyPath }

    /// A Boolean property as a condition, which passes if it is true.
    public subscript(dynamicMember keyPath: KeyPath<Object, Bool>) -> Filter<Object> { Filter(keyPath, .equal, true) }

    /// Key path over links: `$0[\.owner?.name].hasPrefix("A")`.
    public subscript<Value>(keyPath: KeyPath<Object, Value>) -> KeyPath<Object, Value> { keyPath }
}

extension KeyPath where Root: StoredObject, Value: StorableValue {
    /// Passes if the property equals one of `values`: `$0.score.in([1, 2])`. Expected O(1) per object, and O(bytes of
    /// the property) for strings, data and UUIDs. For the count of a list, O(values). For the count of a list, O(values).
    public func `in`(_ values: some Sequence<Value>) -> Filter<Root> {
        let path = ColumnPath(self)
        let property = path.property(of: self, Value.self)
        if property.type == .list {
            // A list is compared by its count, which no column has.
            return Filter(.or(values.map { Filter(self, .equal, $0).expression }))
        }
        let values = Set(values.map(\._columnValue))
        return Filter(
            .along(
                path.links, .column(path.column, .oneOf(ValueSet(values)), isOptional: property.isOptional),
                passesMissing: values.contains(.null)))
    }
}
