// Upkeep's state of an observer of one object.

struct ObjectWatch {
    let connection: ConnectedMailbox
    let object: ObjectHandle
    /// The row at `object.since`.
    let seen: [UInt8]
}
