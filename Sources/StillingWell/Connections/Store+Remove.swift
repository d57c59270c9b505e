// Removing a store.

extension Store {
    /// Removes the store at `path`: its files, and its folder if it is then empty. Other files stay. Any thread.
    ///
    /// No process may have the store open. Close it and release the `Store`, its connections, objects, frozen
    /// collections and tokens first. After an asynchronous write has returned, the store's writer thread refers to the
    /// store for a moment. If this function throws `storeInUse` with the id of this process then, call it again. If a
    /// folder is deleted by other means while these exist, the next opening makes a new store. Writes to the old one
    /// throw ``StoreError/replaced(path:)`` once one of them has checked the paths.
    /// - Parameters:
    ///   - path: folder of the store, as in the configuration.
    ///   - timeout: time to wait for a process that is opening the store. nil waits without limit.
    /// - Returns: false if there is no store.
    /// - Throws: `storeInUse`, which names the process that has it open: the store is unchanged.
    ///   `cannotOpen` if the folder or a file cannot be opened, locked or removed: the store is unchanged, or removed
    ///   with some files left.
    @discardableResult
    public static func remove(path: String, timeout: Duration? = .seconds(5)) throws -> Bool {
        try StoreDirectory.remove(path, limit: TimeLimit(timeout))
    }
}
