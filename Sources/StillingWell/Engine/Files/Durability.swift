// Durability levels of commits, and the LMDB flags that they need.
import CStillingWellLMDB

/// Guarantee for the commits of a store.
public enum Durability: String, Sendable, CaseIterable {
    /// Commits survive a power cut once `write` has returned. One flush before that serves all writers that wait.
    case full
    /// Commits survive a killed process. After a power cut the store is whole, at a commit of about the last 250 ms.
    case relaxed
    /// The store lives on a memory file system and is removed when the last process closes it.
    case memory
}

extension Durability {
    /// LMDB flags. Snapshots are not tied to threads. The map is written only on memory file systems, because a full
    /// disk would raise SIGBUS.
    var flags: UInt32 {
        let common = MDB_NOTLS | MDB_NORDAHEAD | MDB_NOMEMINIT
        return switch self {
        // Flushes are separate from commits (Flushing.swift).
        case .full, .relaxed: UInt32(common | MDB_NOSYNC)
        case .memory: UInt32(common | MDB_WRITEMAP | MDB_NOSYNC | MDB_MAPASYNC)
        }
    }
}
