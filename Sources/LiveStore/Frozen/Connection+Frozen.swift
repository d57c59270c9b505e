// How a connection holds a version for frozen things, and takes references to live ones in. On its scheduler.

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
