// An observer of one object, as upkeep knows it.

/// One connection's interest in one object.
struct ObjectWatch {
    let connection: ConnectedMailbox
    let token: ObjectToken
    /// The row at `token.since`.
    let seen: [UInt8]
}
