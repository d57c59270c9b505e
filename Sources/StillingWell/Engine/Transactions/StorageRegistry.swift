// The environments that this process has open. LMDB must not open a file with its locks twice in one process: closing
// one of the two would drop the locks of both. So opening an open path returns the same storage, and opening a path
// that is being closed waits.
//
// A forked child begins with an empty list. The inherited reader slots, locks and threads belong to its parent.
//
// The lock is not held while a store is opened or closed: an entry without a storage makes others wait.
//
// If the files of a storage are no longer at its path, the path belongs to the files that are there now. The storage
// stays listed: its files may be moved back or found under another path, and must not be opened twice.
import CStillingWellPlatform
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

/// Unchecked because `lock` guards `entries` and `departed` without owning them: a forked child has to look through
/// what it has inherited, and another thread may have held the lock.
final class StorageRegistry: @unchecked Sendable {
    private struct Entry {
        /// The open storage, or nil while the store is being opened or closed, or has to stay closed.
        weak var storage: Storage?
        /// Files of the storage, or nil while the store is being opened or has to stay closed.
        var files: HeldFiles?
        var number: UInt64 = 0
    }

    private let generation = cp_fork_generation()
    private let lock = TracedMutex("storage registry")
    private let changed: TracedCondition
    private var entries: [String: Entry] = [:]
    /// Storages whose files are no longer at their paths.
    private var departed: [Entry] = []

    private init() { changed = TracedCondition("storage registry", lock) }

    /// Address of the newest registry, or 0. Never released. Registries of ancestor processes are not used again.
    private static let newest = Atomic<UInt>(0)

    /// Registry of this process. Uses no lock, because a fork may have copied one that was held.
    private static var current: StorageRegistry {
        while true {
            let known = newest.load(ordering: .acquiring)
            let registry = UnsafeRawPointer(bitPattern: known)
                .map { ObjectPointer.object($0, as: StorageRegistry.self) }
            if let registry, registry.generation == cp_fork_generation() { return registry }
            let made = ObjectPointer.kept(StorageRegistry())
            let outcome = newest.compareExchange(
                expected: known, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
            guard outcome.exchanged else {
                ObjectPointer.release(made)
                continue
            }
            // Closes inherited lock files: held in the child as well, these locks would outlive the parent's.
            guard let registry else { continue }
            for entry in Array(registry.entries.values) + registry.departed { entry.storage?.page.closeInChild() }
        }
    }

    /// Returns the storage of the files at `directory`, opened by `open` if this process does not have it.
    /// - Throws: errors of `open`; `cannotOpen`, for example if this process has only some of these files open, or has
    ///   them open under another path.
    static func storage(_ directory: String, open: () throws -> Storage) throws -> Storage {
        try current.storage(directory, open)
    }

    private func storage(_ directory: String, _ open: () throws -> Storage) throws -> Storage {
        if let known = try take(directory) { return known }
        do {
            let storage = try open()
            lock.withLock {
                storage.isRegistered = true
                entries[directory] = Entry(storage: storage, files: storage.files, number: storage.number)
                changed.broadcast()
            }
            return storage
        } catch {
            close(directory, 0)
            throw error
        }
    }

    /// Runs `body` while this process does not have the store open, and keeps it closed meanwhile.
    /// - Throws: `storeInUse` if the store is open; `cannotOpen` as `storage` does; errors of `body`.
    static func withoutStorage<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
        let registry = current
        if try registry.take(directory) != nil { throw StoreError.storeInUse(path: directory, process: getpid()) }
        defer { registry.close(directory, 0) }
        return try body()
    }

    /// Waits until no other thread opens or closes the store at a path.
    /// - Returns: the storage that has these files open. If nil, the caller owns the path until it sets the storage of
    ///   its entry or calls `close`.
    private func take(_ directory: String) throws -> Storage? {
        // Released outside of the lock, because closing a storage takes the lock.
        var seen: [Storage] = []
        defer { withExtendedLifetime(seen) {} }
        return try lock.withLock {
            while true {
                if let entry = entries[directory] {
                    guard let storage = entry.storage, let files = entry.files else {
                        changed.wait()
                        continue
                    }
                    seen.append(storage)
                    switch try files.state() {
                    case .present: return storage
                    case .mixed(let name): throw Self.mixed(directory, name)
                    case .gone:
                        entries[directory] = nil
                        departed.append(entry)
                    }
                }
                var entry: Entry?
                if !entries.isEmpty || !departed.isEmpty {
                    let present = try HeldFiles.identities(in: directory)
                    entry = (Array(entries.values) + departed).first { $0.files?.overlap(present) == true }
                }
                guard let entry else {
                    entries[directory] = Entry()
                    return nil
                }
                guard let storage = entry.storage, let files = entry.files else {
                    changed.wait()
                    continue
                }
                seen.append(storage)
                guard files.directory == directory else { throw Self.moved(directory, from: files.directory) }
                // The folder was moved back.
                departed.removeAll { $0.number == entry.number }
                entries[directory] = entry
            }
        }
    }

    private static func mixed(_ directory: String, _ name: String) -> StoreError {
        .cannotOpen(
            path: directory,
            reason: """
                \(name) was removed or replaced while this process has the store open; let go of everything that belongs to the store \
                (connections, objects, frozen collections, tokens), and open it again
                """)
    }

    private static func moved(_ directory: String, from old: String) -> StoreError {
        .cannotOpen(
            path: directory,
            reason: """
                this process has the same files open as the store at \(old), because that was moved or linked; let go of everything \
                that belongs to it (connections, objects, frozen collections, tokens), and open it again
                """)
    }

    /// Called after the environment of a storage was closed.
    static func closed(_ directory: String, _ number: UInt64) { current.close(directory, number) }

    private func close(_ directory: String, _ number: UInt64) {
        lock.withLock {
            if entries[directory]?.number == number { entries[directory] = nil }
            departed.removeAll { $0.number == number }
            changed.broadcast()
        }
    }
}
