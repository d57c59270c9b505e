// What frozen objects and collections hold: one snapshot of the store, and the place in the program that asked for it,
// so that a snapshot that is kept for too long can be found. Immutable; any thread.

/// A snapshot that is held on purpose. It keeps its version in the file until its last owner lets go of it.
final class FrozenPin: Sendable {
    let store: Store
    let snapshot: Snapshot

    init(_ store: Store, _ snapshot: Snapshot, file: String, line: Int) {
        self.store = store
        self.snapshot = snapshot
        snapshot.storage.pins.add(ObjectIdentifier(self), version: snapshot.version, file: file, line: line)
    }

    deinit { snapshot.storage.pins.remove(ObjectIdentifier(self)) }
}

/// A connection that reads what is held by a pin and nothing else, for the use of one thread.
final class FrozenConnection: Connection {
    private let pin: FrozenPin

    init(_ pin: FrozenPin) {
        self.pin = pin
        super.init(pin.store, at: pin.snapshot)
    }

    override var isFrozen: Bool { true }
}
