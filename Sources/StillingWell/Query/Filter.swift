// The typed face of filters: comparisons of key paths with constants, joined by `&&`, `||` and `!`.
//
//     items.where(\.score > 50 && \.done == false)

/// A condition on the stored properties of a model class, and on what its links lead to: `\.owner?.name == "Ada"`,
/// `\.friends.count > 2`. A link that leads nowhere reads as nil. Any thread.
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
            ? .along(path.links, .aggregate(column: path.column, .count, of: nil, comparison, value._columnValue))
            : .compare(path, comparison, value._columnValue, isOptional: property.isOptional)
    }
}

/// Equal; strings and data compare as bytes. `nil` equals `nil`.
public func == <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .equal, value) }

/// Not equal; `nil` differs from every value. Any thread, as all of these.
public func != <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .notEqual, value) }

/// Less; strings and data compare as bytes. `nil` is in no order.
public func < <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .less, value) }

/// Less or equal; `nil` is in no order.
public func <= <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .lessOrEqual, value) }

/// Greater; `nil` is in no order.
public func > <Object: StoredObject, Value: StorableValue>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> Filter<Object> { Filter(keyPath, .greater, value) }

/// Greater or equal; `nil` is in no order.
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

/// The condition does not hold: what compares with `nil` in an order passes then. Any thread.
public prefix func ! <Object: StoredObject>(filter: Filter<Object>) -> Filter<Object> {
    Filter(.not(filter.expression))
}

extension KeyPath where Root: StoredObject, Value: StorableValue {
    /// Whether the property has one of `values`.
    public func isOne(of values: some Sequence<Value>) -> Filter<Root> {
        let path = ColumnPath(self)
        let property = path.property(of: self, Value.self)
        let values = Set(values.map(\._columnValue))
        return Filter(
            .along(
                path.links, .column(path.column, .oneOf(values), isOptional: property.isOptional),
                passesMissing: values.contains(.null)))
    }
}
