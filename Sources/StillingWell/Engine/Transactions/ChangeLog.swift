// The change log: `log[version] = [(table, object, operation, columns)]`, written in the LMDB transaction that changes
// the rows. An object may have several entries in a version; readers compute the net effect. A count of entries and a
// checksum follow the entries, 4 bytes each.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

/// One changed row in the log. 24 bytes, stored as in memory (little endian).
struct LogEntry: BitwiseCopyable, Equatable {
    enum Operation: UInt32 {
        case insert = 1
        case update = 2
        case delete = 3
    }

    var table: UInt32
    var operation: UInt32
    var id: UInt64
    /// Bit i: column i was written. All ones for inserts and deletes.
    var columns: UInt64

    init(table: UInt32, _ operation: Operation, id: UInt64, columns: UInt64 = .max) {
        self.table = table
        self.operation = operation.rawValue
        self.id = id
        self.columns = columns
    }
}

/// A log entry with the version that it belongs to.
struct LoggedChange: BitwiseCopyable, Equatable {
    var entry: LogEntry
    var version: UInt64
}

enum ChangeLog {
    /// Maximum number of listed entries. A larger commit lists none, and followers compare snapshots.
    static let maxEntriesPerCommit = 65_536
    /// Versions behind the newest beyond which entries are removed, even if a follower, such as a stopped process, has
    /// not read them.
    static let maxVersions: UInt64 = 65_536
    /// Pruning happens on every 64th version, so that most commits do not touch the oldest page at all.
    static let pruneEvery: UInt64 = 64

    private static let trailerBytes = 8

    /// Bytes that the log stores for a version with this number of entries.
    static func byteCount(_ entries: Int) -> Int { entries * MemoryLayout<LogEntry>.stride + trailerBytes }

    /// Version of the content that a transaction sees, 0 for an empty store. LMDB's transaction id can be older than
    /// the content.
    static func version(_ transaction: LMDBTransaction, _ log: MDB_dbi) throws(EngineFailure) -> UInt64 {
        let cursor = try LMDB.openCursor(transaction, log)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        guard try LMDB.found(engine_cursor_get(cursor, &key, &value, MDB_LAST)) else { return 0 }
        _ = try entries(value.bytes, key.number)
        return key.number
    }

    /// Appends the changes of a version.
    /// - Returns: LMDB's code.
    static func append(
        _ entries: ArraySlice<LogEntry>, _ version: UInt64, _ transaction: LMDBTransaction, _ log: MDB_dbi
    ) -> Int32 {
        entries.withUnsafeBytes { entries in
            LMDB.withNumber(version) { key in
                var value = MDB_val(mv_size: entries.count + trailerBytes, mv_data: nil)
                let code = engine_put(transaction, log, &key, &value, UInt32(MDB_APPEND | MDB_RESERVE))
                guard code == 0, let place = value.mv_data else { return code }
                if let base = entries.baseAddress { memcpy(place, base, entries.count) }
                let trailer = place + entries.count
                trailer.storeBytes(of: UInt32(entries.count / MemoryLayout<LogEntry>.stride), as: UInt32.self)
                trailer.storeBytes(of: Checksum.log(entries, version), toByteOffset: 4, as: UInt32.self)
                return 0
            }
        }
    }

    /// Entries of a version, empty if there were too many to be listed.
    /// - Throws: `damagedLog`.
    private static func entries(
        _ value: UnsafeRawBufferPointer, _ version: UInt64
    ) throws(EngineFailure) -> UnsafeRawBufferPointer {
        let bytes = value.count - trailerBytes
        // `UInt64.max` is damage, because a next version must be possible.
        guard bytes >= 0, version < .max else { throw .damagedLog(version) }
        let entries = UnsafeRawBufferPointer(rebasing: value[..<bytes])
        guard value.loadUnaligned(fromByteOffset: bytes + 4, as: UInt32.self) == Checksum.log(entries, version),
            Int(value.loadUnaligned(fromByteOffset: bytes, as: UInt32.self)) * MemoryLayout<LogEntry>.stride == bytes
        else { throw .damagedLog(version) }
        return entries
    }

    /// Returns whether bytes are the log value of a version.
    static func isWhole(_ value: UnsafeRawBufferPointer, _ version: UInt64) -> Bool {
        (try? entries(value, version)) != nil
    }

    private static func append(
        _ entries: UnsafeRawBufferPointer, _ version: UInt64, to changes: inout [LoggedChange]
    ) {
        for offset in stride(from: 0, to: entries.count, by: MemoryLayout<LogEntry>.stride) {
            let entry = entries.loadUnaligned(fromByteOffset: offset, as: LogEntry.self)
            changes.append(LoggedChange(entry: entry, version: version))
        }
    }

    /// Changes of versions `from + 1 ... to` in commit order, read from a transaction at `to` or later. An object may
    /// appear more than once. Returns nil if the log has no entry of one of the versions, or one without
    /// changes.
    static func read(
        _ transaction: LMDBTransaction, _ log: MDB_dbi, after from: UInt64, to: UInt64
    ) throws(EngineFailure) -> [LoggedChange]? {
        if to == from + 1 {
            guard let value = try LMDB.get(transaction, log, id: to), case let entries = try entries(value, to),
                !entries.isEmpty
            else { return nil }
            var changes: [LoggedChange] = []
            append(entries, to, to: &changes)
            return changes
        }
        var changes: [LoggedChange] = []
        var expected = from + 1
        try LMDB.scan(transaction, log, from: expected, isChecked: false) { (version, value) throws(EngineFailure) in
            guard version == expected, version <= to, case let entries = try entries(value, version), !entries.isEmpty
            else { return false }
            append(entries, version, to: &changes)
            expected += 1
            return version < to
        }
        return expected == to + 1 ? changes : nil
    }
}
