// How objects are added: which of those that are there give way, and by which properties.

/// What is done with an object whose primary key the store has already.
public enum UpdatePolicy: Sendable {
    /// Nothing: `duplicatePrimaryKey` is thrown.
    case error
    /// The stored object takes the values that differ, and observers hear of no others. A list keeps the elements up to the
    /// first that differs.
    case modified
    /// The stored object takes all values, and observers hear of every property.
    case all
}

/// How objects are added: what is done with those that are there, and which properties were asked for.
struct AdditionRequest {
    var policy = UpdatePolicy.error
    /// By object, bit i: the property of ordinal i. Of others, all.
    var given: [ObjectIdentifier: UInt64] = [:]

    func names(_ ordinal: Int, of object: AnyObject) -> Bool {
        given[ObjectIdentifier(object)].map { $0 & 1 << UInt64(ordinal) != 0 } ?? true
    }
}
