// What frozen objects and collections hold: one snapshot of the store, and the place in the program that asked for it,
// so that a snapshot that is kept for too long can be found. Immutable; any thread.

/// A snapshot that is held on purpose. It keeps its version in the file until its last owner lets go of it.
final class FrozenPin: Sendable {
    let store: Store
    let snapshot: Snapshot

    init(_ store: Store, _ snapshot: Snapshot, file: String, line: Int) {
        self.store = store
        self.snapshot = snapshot
        snapshot.storage.addPin(ObjectIdentifier(self), version: snapshot.version, file: file, line: line)
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

extension Connection {
    /// Holds the version that properties are read from now.
    func pin(file: String, line: Int) throws(StoreError) -> FrozenPin {
        checkScheduler()
        guard transaction == nil, let shown else { throw .freezeInWrite }
        return FrozenPin(store, shown, file: file, line: line)
    }

    /// - Parameter path: of the store that it belongs to, as that was opened.
    func checkResolves(_ storage: Storage, path: String) throws(StoreError) {
        checkScheduler()
        if !core.isOpen { throw .closed }
        guard storage === core.storage else { throw otherStore(path) }
    }

    /// The object of a row that somebody has seen at `version`; nil if it is gone.
    func resolve<Object: StoredObject>(
        _ storage: Storage, path: String, _ table: Table, _ id: ObjectID, _ version: UInt64
    ) throws(StoreError) -> Object? {
        try checkResolves(storage, path: path)
        if versionRead < version { try readNewest(forVersion: version) }
        if currentRow(table, id) == nil {
            try checkReads()
            return nil
        }
        return makeObject(table, id)
    }
}
