// The identity of one object: what ties break on, what change sets name deleted rows by. It is not the primary key,
// which is an index to it.

/// The surrogate identity of an object, given out once and never reused within a store.
public struct ObjectID: Hashable, Sendable, Comparable {
    /// Ascending in the order in which objects were created.
    public let rawValue: UInt64

    /// The identity that `rawValue` was read from, as from a message to another process. Any thread; whether there is such
    /// an object shows when it is looked up.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The identity of no row.
    package static let none = ObjectID(rawValue: 0)

    public static func < (left: ObjectID, right: ObjectID) -> Bool { left.rawValue < right.rawValue }
}
