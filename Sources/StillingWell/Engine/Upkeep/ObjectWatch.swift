// Upkeep's state of an observer of one object.

/// Subscription of one connection to one object.
struct ObjectWatch {
    let connection: ConnectedMailbox
    let object: ObjectHandle
    /// The row at `object.since`.
    let seen: [UInt8]
}
