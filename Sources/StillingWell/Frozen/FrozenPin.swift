// The snapshot held by frozen objects and collections, with the source location that froze it. The location helps to
// find snapshots that are held for too long. Immutable; any thread.

/// A snapshot that is held until its last owner is released. It keeps its version in the file or in memory.
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

/// A connection that reads the snapshot of a pin only. For one thread at a time.
final class FrozenConnection: Connection {
    private let pin: FrozenPin

    init(_ pin: FrozenPin) {
        self.pin = pin
        super.init(pin.store, at: pin.snapshot)
    }

    override var isFrozen: Bool { true }
}

extension Connection {
    /// Pins the version that properties are read at.
    func pin(file: String, line: Int) throws(StoreError) -> FrozenPin {
        checkScheduler()
        guard transaction == nil, let shown else { throw .freezeInWrite }
        return FrozenPin(store, shown, file: file, line: line)
    }

    /// - Parameter path: path with which the other store was opened.
    func checkResolves(_ storage: Storage, path: String) throws(StoreError) {
        checkScheduler()
        if !core.isOpen { throw .closed }
        guard storage === core.storage else { throw otherStore(path) }
    }

    /// Returns the object of a row that was seen at `version`, or nil if it was deleted.
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
