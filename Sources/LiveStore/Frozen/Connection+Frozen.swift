// How a connection holds a version for frozen things, and takes references to live ones in. On its scheduler.

extension Connection {
    /// Holds the version that properties are read from now.
    func pin(file: String, line: Int) throws(StoreError) -> FrozenPin {
        checkScheduler()
        guard transaction == nil, let shown else { throw .freezeInWrite }
        return FrozenPin(store, shown, file: file, line: line)
    }

    func checkResolves(_ storage: Storage) throws(StoreError) {
        checkScheduler()
        if !core.isOpen { throw .closed }
        guard storage === core.storage else { throw .otherStore(path: storage.directory) }
    }

    /// The object of a row that somebody has seen at `version`; nil if it is gone.
    func resolve<Object: StoredObject>(
        _ storage: Storage, _ table: Table, _ id: ObjectID, _ version: UInt64
    ) throws(StoreError) -> Object? {
        try checkResolves(storage)
        if versionRead < version { try readNewest(forVersion: version) }
        if currentRow(table, id) == nil {
            try checkReads()
            return nil
        }
        return makeObject(table, id)
    }
}
