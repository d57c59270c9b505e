// The environments this process has open. LMDB must not open a file twice in one process: closing one of the two would
// drop the locks of both. So whoever opens a path that is open already gets the same storage, and whoever opens one
// that is just being closed waits for that.
//
// A forked child begins with an empty list: what it has inherited belongs to its parent, whose reader slots, locks and
// threads it must not touch.
//
// The lock is not held while a store is opened or closed: the entry without a storage makes others wait.
//
// A storage whose files are not at its path any more leaves that path to the files that are there now. It stays listed, because these
// files must not be opened again either where they are moved back, or found under another path.
import CStillingWellPlatform
import Glibc
import StillingWellSync
import Synchronization

/// Unchecked because `lock` guards `entries` and `departed` without owning them: a forked child has to look through what it has
/// inherited, and another thread may have held the lock.
final class StorageRegistry: @unchecked Sendable {
    private struct Entry {
        /// nil while the store is being opened, closed or compacted.
        weak var storage: Storage?
        /// nil while the store is being opened or compacted.
        var files: HeldFiles?
        /// Number of the storage.
        var number: UInt64 = 0
    }

    private let generation = cp_fork_generation()
    private let lock = TracedMutex("storage registry")
    private let changed: TracedCondition
    private var entries: [String: Entry] = [:]
    /// Storages whose files are not at their path any more.
    private var departed: [Entry] = []

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
            guard let registry else { continue }
            for entry in Array(registry.entries.values) + registry.departed { entry.storage?.page.closeInChild() }
        }
    }

    /// The storage of the files at `directory`, opened by `open` if this process does not have it.
    /// - Throws: what `open` throws; `cannotOpen` if this process has some of these files open, and others for the rest.
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

    /// Runs `body` while this process does not have the store open, and keeps it from opening it meanwhile.
    /// - Throws: `storeInUse` if it has; `cannotOpen` as `storage` does.
    static func withoutStorage<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
        let registry = current
        if try registry.take(directory) != nil { throw StoreError.storeInUse(path: directory, process: getpid()) }
        defer { registry.close(directory, 0) }
        return try body()
    }

    /// Waits until no other thread opens or closes the store at a path.
    /// - Returns: the storage that has the files there open; nil if there is none, and others then wait for `close`.
    private func take(_ directory: String) throws -> Storage? {
        // Released without the lock, which closing a storage takes.
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
                // Its folder was moved back.
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

    /// Called when the environment of a storage has been closed.
    static func closed(_ directory: String, _ number: UInt64) { current.close(directory, number) }

    private func close(_ directory: String, _ number: UInt64) {
        lock.withLock {
            if entries[directory]?.number == number { entries[directory] = nil }
            departed.removeAll { $0.number == number }
            changed.broadcast()
        }
    }
}
