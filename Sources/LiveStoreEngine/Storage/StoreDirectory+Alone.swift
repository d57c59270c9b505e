// A store that nobody has open, kept so while its file is looked at or replaced.
import Glibc

extension StoreDirectory {
    /// Runs `body` while nobody has the store open, nor can open it: not this process, nor another one.
    /// - Throws: `storeInUse`, `cannotOpen`, and what `body` throws.
    func alone<Result>(_ limit: TimeLimit, _ body: () throws -> Result) throws -> Result {
        try StorageRegistry.withoutStorage(path) {
            // Held to the end: it keeps other processes from opening the store meanwhile.
            let page = try SharedPage(path, modes, deadlineNs: limit.deadlineNs)
            defer { withExtendedLifetime(page) {} }
            guard page.wasAlone else { throw StoreError.storeInUse(path: path) }
            try StoreFolder.checkFiles(path)
            if access(path + "/" + StoreFolder.data, F_OK) == 0 {
                _ = try Recovery(path, modes, boot: .current, isForced: page.hadFailedFlush)
            }
            return try body()
        }
    }
}
