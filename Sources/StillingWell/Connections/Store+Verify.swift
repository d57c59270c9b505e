// Checking a store's file for damage, and recovering objects from a damaged one.
import Foundation

extension Store {
    /// Checks the newest version. Continues after damage. Other threads and processes may read and write meanwhile. Any
    /// thread. Holds one version until it returns.
    ///
    /// The file is read through the operating system's cache, so errors of the disk itself may go unnoticed.
    /// - Throws: `cannotOpen`, `storage`, `replaced`, `tooManySnapshots`, `closed`, `openedBeforeFork`.
    public func verify() throws -> FileReport {
        try core.checkOpen()
        return try core.storage.verify()
    }

    /// Checks a store that no process has open, even one that cannot be opened. It stays unchanged, except that after a
    /// restart of the machine or a failed flush it begins at its last flush, as when it is opened. Any thread.
    /// - Parameters:
    ///   - path: folder of the store.
    ///   - timeout: time to wait for a process that is opening the store. nil waits without limit.
    /// - Throws: `cannotOpen`, `storeInUse`.
    public static func verify(path: String, timeout: Duration? = .seconds(5)) throws -> FileReport {
        try Verification.verify(path, limit: TimeLimit(timeout))
    }

    /// Copies the undamaged objects of a store to a new store; of several with one primary key, one. Links and list
    /// elements are kept if their target is undamaged. Keys and indexes are rebuilt. No process may have the old store
    /// open. It stays unchanged, except that after a restart of the machine or a failed flush it begins at its last
    /// flush, as when it is opened. Any thread.
    /// - Parameters:
    ///   - path: folder of the old store.
    ///   - folder: folder of the new store, which holds no store yet.
    ///   - mapBytes: as in the configuration.
    ///   - timeout: time to wait for a process that is opening the old store. nil waits without limit.
    /// - Returns: the report of checking the old store.
    /// - Throws: `cannotOpen`, `storeInUse`, `diskFull`, `tooManyTables`, `storage`; then no new store exists.
    @discardableResult
    public static func salvage(
        path: String, to folder: String, mapBytes: Int = 64 << 30, timeout: Duration? = .seconds(5)
    ) throws -> FileReport {
        try Salvage.run(path, to: folder, mapBytes: mapBytes, limit: TimeLimit(timeout))
    }
}
