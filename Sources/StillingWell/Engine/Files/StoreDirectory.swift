// Which folder a store's files are in: the one that the program names, or, of a store in memory, one on a memory file system.
import CStillingWellPlatform
import Foundation

/// Where a store's files are.
struct StoreDirectory {
    /// Canonical.
    let path: String
    /// Whether the library has made the folder for itself.
    let isOwn: Bool
    let modes: FileModes

    /// Makes the folder.
    /// - Parameter place: as the program names it.
    init(_ place: String, _ durability: Durability, _ modes: FileModes) throws {
        try StoreFolder.make(place, modes, isDurable: durability != .memory)
        let path = try Self.canonical(place)
        guard durability == .memory, !cp_is_memory_file_system(path) else {
            self.path = path
            self.modes = modes
            isOwn = false
            return
        }
        let shared = "/dev/shm"
        guard cp_is_memory_file_system(shared) else {
            throw StoreError.cannotOpen(
                path: path, reason: "\(shared) is no memory file system; mount one, or put the store on one")
        }
        self.path = try MemoryFolder.take(for: path, root: shared)
        self.modes = .owner
        isOwn = true
    }

    /// A folder that is there.
    init(_ path: String, _ modes: FileModes) { (self.path, self.modes, isOwn) = (path, modes, false) }

    static func canonical(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
