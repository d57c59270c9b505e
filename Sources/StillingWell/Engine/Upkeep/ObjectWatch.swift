// An observer of one object, as upkeep knows it.

/// One connection's interest in one object.
struct ObjectWatch {
    let connection: ConnectedMailbox
    let object: ObjectHandle
    /// The row at `object.since`.
    let seen: [UInt8]
}
