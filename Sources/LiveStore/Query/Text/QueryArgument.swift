// What stands for `$0`, `$1`, … in the text of a query.

/// A value that the text of a query can refer to: whatever a property can have, a stored object, or an array of values,
/// for `IN`.
public protocol QueryArgument {
    var _queryArgument: QueryArgumentValue { get }
}

/// An argument without its Swift type.
public enum QueryArgumentValue: Sendable {
    /// One value.
    case value(ColumnValue)
    /// Several values, for IN.
    case list([ColumnValue])
}

extension StorableValue {
    public var _queryArgument: QueryArgumentValue { .value(_columnValue) }
}

extension Array: QueryArgument where Element: StorableValue {
    public var _queryArgument: QueryArgumentValue { .list(map(\._columnValue)) }
}

/// A link or a list can be compared with a stored object; no link leads to one that is not stored.
extension StoredObject: QueryArgument {
    public var _queryArgument: QueryArgumentValue { .value(.link(objectID ?? ObjectID(rawValue: 0))) }
}

extension Optional: QueryArgument where Wrapped: StorableValue {}
