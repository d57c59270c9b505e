// Options for adding objects: the policy for existing ones, and the properties to write.

/// The policy for an object whose primary key exists in the store.
public enum UpdatePolicy: Sendable {
    /// Throw `duplicatePrimaryKey`.
    case error
    /// Write only values that differ, and notify observers of these. A list keeps its elements up to the first
    /// difference.
    case modified
    /// Write all given values, and notify observers of each of these properties.
    case all
}

struct AdditionRequest {
    var policy = UpdatePolicy.error
    /// By object: bit i is set if the property of ordinal i was named. For an object that is missing here, all
    /// properties count as named.
    var given: [ObjectIdentifier: UInt64] = [:]

    func names(_ ordinal: Int, of object: AnyObject) -> Bool {
        given[ObjectIdentifier(object)].map { $0 & 1 << UInt64(ordinal) != 0 } ?? true
    }
}
