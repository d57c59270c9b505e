// Reusable readers of snapshots. A reader keeps its version in the file or, if held for long, in its mapping
// (HeldVersions.swift).
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellSync
import Synchronization

/// Transactions of a snapshot, reused by the next one: a read transaction of the mapping that is read, with a cursor on
/// the log, and a transaction that keeps the version in the file. Owned by one snapshot, or by the pool.
///
/// Unchecked because of the engine's pointers. Reading with the transaction requires `lock`. Renewing it requires sole
/// ownership. Asking which transaction is pinned, and releasing it, require `pinLock`.
final class SnapshotReader: @unchecked Sendable {
    private(set) var transaction: LMDBTransaction
    private var logCursor: LMDBCursor
    let lock = TracedMutex("snapshot")
    let roots = TableRoots()
    /// Version held, or `noVersion`.
    private let heldVersion = Atomic<UInt64>(SharedPage.noVersion)
    private let heldSinceNs = Atomic<Int64>(0)

    private let pinLock = TracedMutex("pin")
    /// Keeps pages of its version and all later ones from being reused. Also reads if there is no other mapping.
    private let pin: LMDBTransaction
    private let log: MDB_dbi
    private let path: String
    private enum Keeper { case nothing, inFile, inMapping }
    /// Keeper of the version. Guarded by `pinLock`.
    private var keeper = Keeper.inFile
    /// Mapping that is read. Written with `pinLock` held.
    private(set) var map: ReadMap

    /// Takes over a transaction that has begun.
    init(_ pin: LMDBTransaction, _ map: ReadMap, log: MDB_dbi, path: String) throws(StoreError) {
        (self.pin, self.map, self.log, self.path) = (pin, map, log, path)
        do throws(StoreError) {
            (transaction, logCursor) = try Self.begin(pin, map, log, path)
        } catch {
            mdb_txn_abort(pin)
            throw error
        }
    }

    private static func begin(
        _ pin: LMDBTransaction, _ map: ReadMap, _ log: MDB_dbi, _ path: String
    ) throws(StoreError) -> (LMDBTransaction, LMDBCursor) {
        var transaction: LMDBTransaction? = pin
        var code = map.isApart ? mdb_txn_begin(map.environment, nil, UInt32(MDB_RDONLY), &transaction) : 0
        var cursor: LMDBCursor?
        if code == 0 { code = engine_cursor_open(transaction, log, &cursor) }
        guard code == 0, let transaction, let cursor else {
            if let transaction, transaction != pin { mdb_txn_abort(transaction) }
            throw LMDB.error(code, "open log", path: path)
        }
        return (transaction, cursor)
    }

    deinit { roots.free() }

    /// Ends the transactions for good. Not left to `deinit`, because the environments must still be open.
    func end() {
        endReading()
        mdb_txn_abort(pin)
    }

    private func endReading() {
        mdb_cursor_close(logCursor)
        if transaction != pin { mdb_txn_abort(transaction) }
    }

    /// Moves to the newest content and returns its version.
    /// - Parameter current: returns the mapping of new snapshots.
    func renew(_ current: () -> ReadMap) throws(StoreError) -> UInt64 {
        try pinLock.withLock { () throws(StoreError) in
            // A mapping is marked as retired before its readers are checked, and the check waits for this lock.
            while map.isRetired.load(ordering: .sequentiallyConsistent) { try move(to: current()) }
            // The pin comes first, so that the version that is read is not older than the pinned one.
            var code = mdb_txn_renew(pin)
            if code == 0, transaction != pin {
                code = mdb_txn_renew(transaction)
                if code != 0 { mdb_txn_reset(pin) }
            }
            try LMDB.check(code, "renew snapshot", path: path)
            keeper = .inFile
        }
        var key = MDB_val()
        var value = MDB_val()
        var code = engine_cursor_renew(transaction, logCursor)
        if code == 0 { code = engine_cursor_get(logCursor, &key, &value, MDB_LAST) }
        guard code == 0 || code == MDB_NOTFOUND else {
            reset()
            throw LMDB.error(code, "read log", path: path)
        }
        let version = code == MDB_NOTFOUND ? 0 : key.number
        // The coarse clock is exact to a few milliseconds and costs a quarter of the exact one, at every snapshot.
        heldSinceNs.store(monotonicNs(CLOCK_MONOTONIC_COARSE), ordering: .relaxed)
        heldVersion.store(version, ordering: .releasing)
        return version
    }

    private func move(to map: ReadMap) throws(StoreError) {
        let (transaction, cursor) = try Self.begin(pin, map, log, path)
        mdb_txn_reset(transaction)
        endReading()
        (self.transaction, logCursor, self.map) = (transaction, cursor, map)
    }

    /// Version held, and since when. Any thread.
    var held: (version: UInt64, sinceNs: Int64)? {
        let version = heldVersion.load(ordering: .acquiring)
        return version == SharedPage.noVersion ? nil : (version, heldSinceNs.load(ordering: .relaxed))
    }

    /// Releases the version.
    /// - Returns: whether its mapping is retired, and can be released once no reader uses it.
    @discardableResult
    func reset() -> Bool {
        roots.forget()
        heldVersion.store(SharedPage.noVersion, ordering: .relaxed)
        return pinLock.withLock {
            if transaction != pin { mdb_txn_reset(transaction) }
            if keeper == .inFile { mdb_txn_reset(pin) }
            keeper = .nothing
            return map.isRetired.load(ordering: .relaxed)
        }
    }

    // MARK: Versions held for long

    /// LMDB transaction that the reader keeps in the file, if it reads `map`. Any thread.
    func pinned(by map: ReadMap) -> UInt64? {
        pinLock.withLock { self.map === map && keeper == .inFile ? LMDB.number(of: pin) : nil }
    }

    /// Stops keeping the version in the file if the reader uses `map`, which keeps it instead. Any thread.
    func unpin(_ map: ReadMap) {
        pinLock.withLock {
            guard self.map === map, keeper == .inFile else { return }
            mdb_txn_reset(pin)
            keeper = .inMapping
        }
    }

    /// Moves the reader to `next` if it uses `map` and is idle. Returns whether it has left `map`. Any thread.
    func leave(_ map: ReadMap, for next: ReadMap) -> Bool {
        pinLock.withLock {
            if self.map !== map { return true }
            guard keeper == .nothing else { return false }
            do throws(StoreError) { try move(to: next) } catch { return false }
            return true
        }
    }
}
