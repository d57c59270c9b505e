// Whether a store's file is what was stored there, and what to do where it is not.
import Foundation

extension Store {
    /// Looks at everything that the newest version holds: pages, rows, keys, indexes, lists and the log. Reads the file as it
    /// lies there and stops for no damage. Others may read and write meanwhile. Any thread. O(file); holds one version for as
    /// long as it takes.
    ///
    /// The file is read through the system's cache: what a disk would give back now is not asked.
    /// - Throws: `cannotOpen`, `storage`, `replaced`, `tooManySnapshots`, `closed`.
    public func verify() throws -> FileReport {
        try core.checkOpen()
        return try core.storage.verify()
    }

    /// The same of a store that nobody has open, and which need not be one that can be opened. Any thread. O(file).
    /// - Parameters:
    ///   - path: its folder.
    ///   - timeout: seconds to wait for who is opening it.
    /// - Throws: `cannotOpen`, `storeInUse`, `invalidTimeout`.
    public static func verify(path: String, timeout: Double = 5) throws -> FileReport {
        try Verification.verify(path, limit: TimeLimit(seconds: timeout, "timeout"))
    }

    /// Writes every object of a store that is whole to a new store, with the links between such and with the elements of
    /// lists that lead to such. Keys and indexes are made anew. The old store, which nobody may have open, stays as it is. Any
    /// thread. O(file).
    /// - Parameters:
    ///   - path: its folder.
    ///   - folder: of the new one, which holds no store yet.
    ///   - mapBytes: as of the configuration.
    ///   - timeout: seconds to wait for who is opening it.
    /// - Returns: what was found in the old one.
    /// - Throws: `cannotOpen`, `storeInUse`, `diskFull`, `storage`, `invalidTimeout`; then there is no new store.
    @discardableResult
    public static func salvage(
        path: String, to folder: String, mapBytes: Int = 64 << 30, timeout: Double = 5
    ) throws -> FileReport {
        try Salvage.run(path, to: folder, mapBytes: mapBytes, limit: TimeLimit(seconds: timeout, "timeout"))
    }
}
