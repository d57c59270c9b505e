// Arguments for `$0`, `$1`, … in the text of a query.

/// An argument of a query's text: any value that a property can have, a stored object, or an array of values for `IN`.
public protocol QueryArgument {
    var _queryArgument: _QueryArgumentValue { get }
}

typealias QueryArgumentValue = _QueryArgumentValue
typealias ObjectArgument = _ObjectArgument

/// An argument without its Swift type.
public enum _QueryArgumentValue: Sendable {
    /// One value.
    case value(ColumnValue)
    /// Several values, for `IN`.
    case list([ColumnValue])
    /// An object.
    case object(_ObjectArgument)
}

/// An object as an argument: its id, class and store.
public struct _ObjectArgument: Sendable {
    /// Id of the object, or `ObjectID.none` if it is not stored.
    let id: ObjectID
    let type: String
    /// Store and class of the object, or nil if it is not stored.
    let home: ObjectHome?

    init(id: ObjectID, type: String, home: ObjectHome?) {
        self.id = id
        self.type = type
        self.home = home
    }
}

extension StorableValue {
    public var _queryArgument: _QueryArgumentValue { .value(_columnValue) }
}

extension Array: QueryArgument where Element: StorableValue {
    public var _queryArgument: _QueryArgumentValue { .list(map(\._columnValue)) }
}

extension Optional: QueryArgument where Wrapped: StorableValue {}
