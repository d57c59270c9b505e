// The change log: `log[version] = [(table, object, operation, columns)]`, written in the same LMDB transaction as the
// rows it speaks of, so it is exact. An object may stand in one entry several times; readers keep the net effect.
import CLMDB

/// One changed row as the log tells it. 24 bytes, stored as it lies in memory (little endian).
package struct LogEntry: BitwiseCopyable, Equatable {
    package enum Operation: UInt32 {
        case insert = 1
        case update = 2
        case delete = 3
    }

    package var table: UInt32
    package var operation: UInt32
    package var id: UInt64
    /// Bit i: column i was written. All ones for inserts and deletes.
    package var columns: UInt64

    package init(table: UInt32, _ operation: Operation, id: UInt64, columns: UInt64 = .max) {
        self.table = table
        self.operation = operation.rawValue
        self.id = id
        self.columns = columns
    }
}

/// One entry with the version that made it.
struct LoggedChange: BitwiseCopyable, Equatable {
    var entry: LogEntry
    var version: UInt64
}

enum ChangeLog {
    /// A commit of more rows is not listed; followers compare snapshots, which is cheaper at that size.
    static let maxEntriesPerCommit = 65_536
    /// Versions kept even for a follower that never moves on; a dead process cannot hold more than this.
    static let maxVersions: UInt64 = 65_536
    /// Pruning happens on every 64th version, so that most commits do not touch the oldest page at all.
    static let pruneEvery: UInt64 = 64

    /// The version of the content a transaction sees, 0 for an empty store. LMDB's own transaction id can be older
    /// than the content; this is not.
    static func version(_ transaction: LMDBTransaction, _ log: MDB_dbi) throws(EngineFailure) -> UInt64 {
        try LMDB.lastID(transaction, log) ?? 0
    }

    /// The changes of versions `from + 1 ... to`, in order of commits, read from a transaction that stands at `to` or later; one
    /// object may appear more than once. nil where the log was pruned, or a commit was too large to be listed: compare the two
    /// snapshots instead.
    static func read(
        _ transaction: LMDBTransaction, _ log: MDB_dbi, after from: UInt64, to: UInt64
    ) throws(EngineFailure) -> [LoggedChange]? {
        if to == from + 1 {
            guard let value = try LMDB.get(transaction, log, id: to), !value.isEmpty else { return nil }
            return value.withMemoryRebound(to: LogEntry.self) { $0.map { LoggedChange(entry: $0, version: to) } }
        }
        var entries: [LoggedChange] = []
        var expected = from + 1
        try LMDB.scan(transaction, log, from: expected) { version, value in
            guard version == expected, version <= to, !value.isEmpty else { return false }
            value.withMemoryRebound(to: LogEntry.self) {
                entries.append(contentsOf: $0.lazy.map { LoggedChange(entry: $0, version: version) })
            }
            expected += 1
            return version < to
        }
        return expected == to + 1 ? entries : nil
    }
}
