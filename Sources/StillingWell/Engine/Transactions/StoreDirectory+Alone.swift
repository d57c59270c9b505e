// Exclusive access to a store that no process has open, for inspecting, replacing or removing its file.
import Glibc

extension StoreDirectory {
    /// Runs `body` while no thread or process has the store open or can open it.
    /// - Parameter mends: whether damaged headers are restored, as when a store is opened.
    /// - Throws: `storeInUse`, `cannotOpen`, and errors of `body`.
    func alone<Result>(_ limit: TimeLimit, mends: Bool = true, _ body: () throws -> Result) throws -> Result {
        try locked(limit) { page in
            if try FileIdentity.at(path + "/" + StoreFolder.data) != nil {
                _ = try Recovery(path, modes, boot: .current, isForced: page.hadFailedFlush, mends: mends)
            }
            return try body()
        }
    }

    /// Runs `body` as `alone` does, without recovering the file first.
    private func locked<Result>(_ limit: TimeLimit, _ body: (SharedPage) throws -> Result) throws -> Result {
        try StorageRegistry.withoutStorage(path) {
            // The page keeps other processes from opening the store, so it is held to the end.
            let page = try SharedPage(path, modes, deadlineNs: limit.deadlineNs)
            defer { withExtendedLifetime(page) {} }
            guard page.wasAlone else { throw StoreError.storeInUse(path: path, process: page.holder) }
            try StoreFolder.checkFiles(path)
            return try body(page)
        }
    }

    /// Removes a store that no process has open, from the disk and from memory, and its folder if that is then empty.
    /// - Returns: false if there is no store.
    /// - Throws: `storeInUse`, `cannotOpen`.
    static func remove(_ place: String, limit: TimeLimit) throws -> Bool {
        guard try FileIdentity.at(place) != nil else { return false }
        let path = try canonical(place)
        let folders = [try MemoryFolder.existing(for: path), path].compactMap(\.self)
        var isRemoved = false
        for folder in folders where try StoreFolder.hasStore(folder) {
            try StoreDirectory(folder, .owner).locked(limit) { _ in try StoreFolder.removeStore(folder) }
            isRemoved = true
        }
        if isRemoved { rmdir(path) }
        return isRemoved
    }
}
