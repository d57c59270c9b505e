// Removing a store.

extension Store {
    /// Removes the store at `path`: its files, and its folder if nothing else is in it. Other files stay. Any thread.
    ///
    /// Nobody may have the store open, in this process or another one: close it and let go of its connections, objects, frozen collections
    /// and tokens first. If a folder is deleted by other means while something of its store is held, the next opening makes a new store, and
    /// writes through what is held throw ``StoreError/replaced(path:)``.
    /// - Parameters:
    ///   - path: its folder, as in the configuration.
    ///   - timeout: seconds to wait for a process that is opening the store.
    /// - Returns: false if there is no store.
    /// - Throws: `storeInUse`, which names the process that has it open, and `invalidTimeout`: the store is as it was. `cannotOpen` if a file
    ///   cannot be removed: the store is as it was, or gone, and some of its files are left.
    @discardableResult
    public static func remove(path: String, timeout: Double = 5) throws -> Bool {
        try StoreDirectory.remove(path, limit: TimeLimit(seconds: timeout, "timeout"))
    }
}
