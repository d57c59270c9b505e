// Snapshots of a store: what they read with is made once and used again. Who takes an idle reader has `idleReaders`, a leaf, and then
// the reader alone.
import CStillingWellLMDB
import Glibc
import Logging
import StillingWellSync

extension Storage {
    /// The latest version, as a snapshot of its own. Any thread; never waits for a writer.
    func openSnapshot() throws(StoreError) -> Snapshot {
        let reader = try takeReader()
        do throws(StoreError) {
            return try openSnapshot(with: reader)
        } catch {
            recycle(reader)
            throw error
        }
    }

    /// A read transaction to start a snapshot with. Throws `tooManySnapshots`.
    func takeReader() throws(StoreError) -> SnapshotReader {
        if let idle = idleReaders.withLock({ $0.popLast() }) { return idle }
        var transaction: LMDBTransaction?
        var code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Some may be of processes that were killed, and nobody has written since.
            releaseDeadReaders()
            code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        }
        try LMDB.check(code, "begin snapshot", path: directory)
        let reader = try SnapshotReader(transaction!, readMap, log: log, path: directory)
        reader.reset()
        pins.add(reader)
        return reader
    }

    /// Starts a snapshot. A reader keeps its place in LMDB's table, so this fails only where the storage is broken.
    ///
    /// LMDB copies the two root records without a lock. If two commits land meanwhile, the second is written over the
    /// record that is being copied; so a start during which the bell rang is not trusted.
    func openSnapshot(with reader: SnapshotReader) throws(StoreError) -> Snapshot {
        Snapshot(self, reader, version: try begin(reader))
    }

    /// A snapshot that holds no version until it is asked something. Throws `tooManySnapshots`.
    /// - Parameter wakesUpkeep: whether upkeep is told then: false for its own.
    func sleepingSnapshot(wakesUpkeep: Bool) throws(StoreError) -> Snapshot {
        Snapshot(self, try takeReader(), version: nil, wakesUpkeep: wakesUpkeep)
    }

    /// Has a reader hold the newest version.
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

    /// Lets go of what readers held that were killed: a read transaction that never ends keeps every later version in
    /// the file. The engine itself does not look.
    func releaseDeadReaders() {
        let code = mdb_reader_check(environment, nil)
        if code != 0 {
            Logger(label: "stillingwell").error(
                "readers that were killed are not let go of: \(error(code, "check readers"))")
        }
    }

    /// Takes the transaction of a snapshot that has ended.
    func recycle(_ reader: SnapshotReader) {
        // In a forked child it is the parent's, who still reads by it.
        guard isOfThisProcess else { return }
        // Not at the next commit, which may never come: until then the mapping and its copies would stay.
        if reader.reset() { heldVersions.leave(reader) { readMap } }
        idleReaders.withLock { $0.append(reader) }
    }
}
