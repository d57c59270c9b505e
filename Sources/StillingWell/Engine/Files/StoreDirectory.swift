// The folder of a store's files: the one that the program names or, for a store in memory, one in memory.
import CStillingWellPlatform
import Foundation

struct StoreDirectory {
    /// Canonical path of the folder.
    let path: String
    /// Whether the library has made the folder for itself.
    let isOwn: Bool
    let modes: FileModes

    /// Makes the folder.
    /// - Parameter place: the path that the program names.
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

    /// Describes an existing folder.
    init(_ path: String, _ modes: FileModes) { (self.path, self.modes, isOwn) = (path, modes, false) }

    static func canonical(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
