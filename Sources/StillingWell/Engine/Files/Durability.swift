// What a commit survives, and what that asks of the engine.
import CStillingWellLMDB

/// How hard a commit is promised.
public enum Durability: String, Sendable, CaseIterable {
    /// Survives a power cut once `write` has returned: the file is flushed before, once for all who wait.
    case full
    /// Survives a killed process. After a power cut the store is whole, at a commit of the last quarter of a second or so.
    case relaxed
    /// Lives on a memory file system as long as some process has it open.
    case memory
}

extension Durability {
    /// Snapshots move between threads, so none is tied to one. Writing through the map is for memory files only: on a
    /// disk that fills up it would be a SIGBUS.
    var flags: UInt32 {
        let common = MDB_NOTLS | MDB_NORDAHEAD | MDB_NOMEMINIT
        return switch self {
        // Flushes are made apart from commits (Flushing.swift).
        case .full, .relaxed: UInt32(common | MDB_NOSYNC)
        case .memory: UInt32(common | MDB_WRITEMAP | MDB_NOSYNC | MDB_MAPASYNC)
        }
    }
}
