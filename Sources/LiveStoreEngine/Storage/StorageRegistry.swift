// The environments this process has open. LMDB must not open a file twice in one process: closing one of the two would
// drop the locks of both. So whoever opens a path that is open already gets the same storage, and whoever opens one
// that is just being closed waits for that.
//
// A forked child begins with an empty list: what it has inherited belongs to its parent, whose reader slots, locks and
// threads it must not touch.
//
// The lock is not held while a store is opened or closed: the entry without a storage makes others wait.
import CPlatform
import Synchronization
import TracedSync

/// Unchecked because `lock` guards `entries` without owning them: a forked child has to look through what it has inherited, and
/// another thread may have held the lock.
package final class StorageRegistry: @unchecked Sendable {
    private struct Entry {
        /// nil while the store is being opened, closed or compacted.
        weak var storage: Storage?
    }

    private let generation = cp_fork_generation()
    private let lock = TracedMutex("storage registry")
    private let changed: TracedCondition
    private var entries: [String: Entry] = [:]

    private init() { changed = TracedCondition("storage registry", lock) }

    /// The address of the newest, 0 for none. Retained for good; those of processes before this one are not used again.
    private static let newest = Atomic<UInt>(0)

    /// That of this process. Free of locks, because a fork may have copied one that was held.
    private static var current: StorageRegistry {
        while true {
            let known = newest.load(ordering: .acquiring)
            let registry = UnsafeRawPointer(bitPattern: known)
                .map { Unmanaged<StorageRegistry>.fromOpaque($0).takeUnretainedValue() }
            if let registry, registry.generation == cp_fork_generation() { return registry }
            let made = Unmanaged.passRetained(StorageRegistry())
            let outcome = newest.compareExchange(
                expected: known, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
            guard outcome.exchanged else {
                made.release()
                continue
            }
            // The locks of the parent's files are its own again: held here as well, they would outlive it.
            registry?.entries.values.forEach { $0.storage?.page.closeInChild() }
        }
    }

    /// The storage of `directory`, opened by `open` if this process does not have it.
    package static func storage(_ directory: String, open: () throws -> Storage) throws -> Storage {
        try current.storage(directory, open)
    }

    private func storage(_ directory: String, _ open: () throws -> Storage) throws -> Storage {
        let known = lock.withLock { () -> Storage? in
            while let entry = entries[directory] {
                if let storage = entry.storage { return storage }
                changed.wait()
            }
            entries[directory] = Entry()
            return nil
        }
        if let known { return known }
        do {
            let storage = try open()
            lock.withLock {
                storage.isRegistered = true
                entries[directory] = Entry(storage: storage)
                changed.broadcast()
            }
            return storage
        } catch {
            close(directory)
            throw error
        }
    }

    /// Runs `body` while this process does not have the store open, and keeps it from opening it meanwhile.
    /// - Throws: `storeInUse` if it has.
    static func withoutStorage<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
        let registry = current
        try registry.lock.withLock {
            while let entry = registry.entries[directory] {
                if entry.storage != nil { throw StoreError.storeInUse(path: directory) }
                registry.changed.wait()
            }
            registry.entries[directory] = Entry()
        }
        defer { registry.close(directory) }
        return try body()
    }

    /// Called when the environment has been closed.
    static func closed(_ directory: String) { current.close(directory) }

    private func close(_ directory: String) {
        lock.withLock {
            entries[directory] = nil
            changed.broadcast()
        }
    }
}
