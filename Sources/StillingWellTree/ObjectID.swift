// The id of an object: it breaks ties in orders and names deleted rows in change sets. It is independent of the primary
// key.

/// The surrogate id of an object. Once the write that created the object is committed, no other object of its class in
/// the store gets its id.
public struct ObjectID: Hashable, Sendable, Comparable {
    /// Number that ascends in the order in which the objects of a class were created.
    public let rawValue: UInt64

    /// Makes the id with this raw value, as received from another process. Whether the object exists is found when it
    /// is looked up. Any thread.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Id of no row.
    package static let none = ObjectID(rawValue: 0)

    public static func < (left: ObjectID, right: ObjectID) -> Bool { left.rawValue < right.rawValue }
}
