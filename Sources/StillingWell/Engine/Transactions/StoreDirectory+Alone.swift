// A store that nobody has open, kept so while its file is looked at, replaced or removed.
import Glibc

extension StoreDirectory {
    /// Runs `body` while nobody has the store open, nor can open it: not this process, nor another one.
    /// - Parameter mends: whether damaged headers are restored, as an opening does.
    /// - Throws: `storeInUse`, `cannotOpen`, and what `body` throws.
    func alone<Result>(_ limit: TimeLimit, mends: Bool = true, _ body: () throws -> Result) throws -> Result {
        try locked(limit) { page in
            if try FileIdentity.at(path + "/" + StoreFolder.data) != nil {
                _ = try Recovery(path, modes, boot: .current, isForced: page.hadFailedFlush, mends: mends)
            }
            return try body()
        }
    }

    /// Runs `body` as `alone` does, with the file as it was left.
    private func locked<Result>(_ limit: TimeLimit, _ body: (SharedPage) throws -> Result) throws -> Result {
        try StorageRegistry.withoutStorage(path) {
            // Held to the end: it keeps other processes from opening the store meanwhile.
            let page = try SharedPage(path, modes, deadlineNs: limit.deadlineNs)
            defer { withExtendedLifetime(page) {} }
            guard page.wasAlone else { throw StoreError.storeInUse(path: path, process: page.holder) }
            try StoreFolder.checkFiles(path)
            return try body(page)
        }
    }

    /// Removes a store that nobody has open, on the disk and in memory, and its folder if that is empty then.
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
