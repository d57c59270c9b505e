// Snapshots of a store. Their readers are pooled. `idleReaders` is a leaf lock, held only while a reader is taken or
// returned.
import CStillingWellLMDB
import Glibc
import Logging
import StillingWellSync

extension Storage {
    /// Opens a snapshot of the newest version. Any thread; never waits for a writer.
    func openSnapshot() throws(StoreError) -> Snapshot {
        let reader = try takeReader()
        do throws(StoreError) {
            return try openSnapshot(with: reader)
        } catch {
            recycle(reader)
            throw error
        }
    }

    /// Takes a read transaction for a snapshot from the pool, or begins one. Throws errors of LMDB, such as
    /// `tooManySnapshots`.
    func takeReader() throws(StoreError) -> SnapshotReader {
        if let idle = idleReaders.withLock({ $0.popLast() }) { return idle }
        var transaction: LMDBTransaction?
        var code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Slots of killed processes are freed by writers, and none may have run since.
            releaseDeadReaders()
            code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        }
        try LMDB.check(code, "begin snapshot", path: directory)
        let reader = try SnapshotReader(transaction!, readMap, log: log, path: directory)
        reader.reset()
        pins.add(reader)
        return reader
    }

    /// Starts a snapshot. A reader keeps its slot in LMDB's table, so this does not fail for lack of one.
    ///
    /// LMDB copies the two root records without a lock. If two commits happen meanwhile, the second overwrites the
    /// record that is being copied. So the read begins again if a commit was announced meanwhile.
    func openSnapshot(with reader: SnapshotReader) throws(StoreError) -> Snapshot {
        Snapshot(self, reader, version: try begin(reader))
    }

    /// Makes a snapshot that takes its version at the first read. Throws errors of `takeReader`.
    /// - Parameter wakesUpkeep: whether that read wakes the upkeep thread; false for that thread's own snapshot.
    func sleepingSnapshot(wakesUpkeep: Bool) throws(StoreError) -> Snapshot {
        Snapshot(self, try takeReader(), version: nil, wakesUpkeep: wakesUpkeep)
    }

    /// Begins to read the newest version with a reader.
    func begin(_ reader: SnapshotReader) throws(StoreError) -> UInt64 {
        while true {
            let before = page.bellCount
            let version = try reader.renew { readMap }
            if page.bellCount == before {
                noticeForeignCommits(to: version, reader.transaction)
                return version
            }
            reader.reset()
        }
    }

    /// Frees reader slots of killed processes, which would keep every later version in the file. LMDB does not check by
    /// itself.
    func releaseDeadReaders() {
        let code = mdb_reader_check(environment, nil)
        if code != 0 {
            Logger(label: "stillingwell").error(
                "readers that were killed are not let go of: \(error(code, "check readers"))")
        }
    }

    /// Returns the reader of an ended snapshot to the pool.
    func recycle(_ reader: SnapshotReader) {
        // In a forked child, the reader belongs to the parent, which still uses it.
        guard isOfThisProcess else { return }
        // The reader leaves its retired mapping at once: a next commit, which would release it, may never come.
        if reader.reset() { heldVersions.leave(reader) { readMap } }
        idleReaders.withLock { $0.append(reader) }
    }
}
