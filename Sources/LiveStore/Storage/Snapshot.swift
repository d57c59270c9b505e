// A read transaction at one version, shared by whoever stands at that version: upkeep, connections, frozen
// collections. It ends with its last reference, on whatever thread that is.
//
// `reader.lock` guards the LMDB transaction: looking a row up initialises LMDB's per-transaction table records, so two
// threads may not do it at once. Memory returned is immutable until the snapshot ends and is read without the lock.
import CLMDB
import TracedSync

/// A reusable LMDB read transaction. Owned by one snapshot, or by the pool.
final class SnapshotReader: @unchecked Sendable {
    let transaction: LMDBTransaction
    let lock = TracedMutex("snapshot")

    init(_ transaction: LMDBTransaction) { self.transaction = transaction }
}

/// The store's content at `version`. Any thread.
final class Snapshot: @unchecked Sendable {
    let version: UInt64
    let storage: Storage
    private let reader: SnapshotReader

    init(_ storage: Storage, _ reader: SnapshotReader, version: UInt64) {
        self.storage = storage
        self.reader = reader
        self.version = version
    }

    deinit { storage.recycle(reader) }

    /// The row of object `id`, valid while this snapshot is alive; nil when there is none. O(log n).
    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        reader.lock.withLock { LMDB.get(reader.transaction, table.rows, id: id.rawValue) }.map { RowReader($0) }
    }

    /// The object whose primary key has this encoding.
    func find(_ table: Table, primaryKey: UnsafeRawBufferPointer) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return reader.lock.withLock { LMDB.get(reader.transaction, index, key: primaryKey) }
            .map { ObjectID(rawValue: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// Visits every row in order of object ids. Other readers of this snapshot wait meanwhile: for a long scan, open
    /// a snapshot of one's own. `body` must not read through this snapshot.
    func scan(_ table: Table, _ body: (ObjectID, RowReader) -> Void) {
        reader.lock.withLock {
            LMDB.scan(reader.transaction, table.rows) { id, row in
                body(ObjectID(rawValue: id), RowReader(row))
                return true
            }
        }
    }

    /// Runs `body` with the transaction, alone among the users of this snapshot.
    func withTransaction<Result>(_ body: (LMDBTransaction) -> Result) -> Result {
        reader.lock.withLock { body(reader.transaction) }
    }

    /// The log between an older version and this one.
    func changes(after version: UInt64) -> LogRange {
        reader.lock.withLock {
            ChangeLog.read(reader.transaction, storage.log, after: version, to: self.version)
        }
    }
}
