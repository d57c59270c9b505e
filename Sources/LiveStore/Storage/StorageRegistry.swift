// The environments this process has open. LMDB must not open a file twice in one process: closing one of the two would
// drop the locks of both. So whoever opens a path that is open already gets the same storage, and whoever opens one
// that is just being closed waits for that.
//
// `lock` guards `entries`. It is held while a store is opened, which is file work and calls no user code but the
// initialisers of models.
import TracedSync

enum StorageRegistry {
    private struct Entry {
        weak var storage: Storage?
    }

    private static let lock = TracedMutex("storage registry")
    private static let changed = TracedCondition("storage registry", lock)
    nonisolated(unsafe) private static var entries: [String: Entry] = [:]

    /// The storage of `directory`, opened by `open` if this process does not have it.
    static func storage(_ directory: String, open: () throws -> Storage) throws -> Storage {
        try lock.withLock {
            while let entry = entries[directory] {
                if let storage = entry.storage { return storage }
                changed.wait()
            }
            let storage = try open()
            storage.isRegistered = true
            entries[directory] = Entry(storage: storage)
            return storage
        }
    }

    /// Runs `body` while this process does not have the store open, and keeps it from opening it meanwhile.
    /// - Throws: `storeInUse` if it has.
    static func withoutStorage(_ directory: String, _ body: () throws -> Void) throws {
        try lock.withLock {
            while let entry = entries[directory] {
                if entry.storage != nil { throw StoreError.storeInUse(path: directory) }
                changed.wait()
            }
            entries[directory] = Entry()
        }
        defer { closed(directory) }
        try body()
    }

    /// Called when the environment has been closed.
    static func closed(_ directory: String) {
        lock.withLock {
            entries[directory] = nil
            changed.broadcast()
        }
    }
}
