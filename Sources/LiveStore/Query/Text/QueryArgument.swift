// What stands for `$0`, `$1`, … in the text of a query.

/// A value that the text of a query can refer to: whatever a property can have, or an array of that, for `IN`.
public protocol QueryArgument: Sendable {
    var _queryArgument: QueryArgumentValue { get }
}

/// An argument without its Swift type.
public enum QueryArgumentValue: Sendable {
    case value(ColumnValue)
    case list([ColumnValue])
}

extension StorableValue {
    public var _queryArgument: QueryArgumentValue { .value(_columnValue) }
}

extension Array: QueryArgument where Element: StorableValue {
    public var _queryArgument: QueryArgumentValue { .list(map(\._columnValue)) }
}

extension Optional: QueryArgument where Wrapped: StorableValue {}
