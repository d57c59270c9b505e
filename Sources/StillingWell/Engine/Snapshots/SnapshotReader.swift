// What snapshots read with, and what keeps their versions: in the file, or, of those that are held for long, in the mapping that
// they are read by (HeldVersions.swift).
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellSync
import Synchronization

/// What a snapshot reads with, used again by the next one: a read transaction in the mapping that is read by, with a cursor on the
/// log that is renewed along with it, and one that keeps the version in the file. Owned by one snapshot, or by the pool.
///
/// Unchecked because of the engine's pointers: who reads with the transaction has `lock`, who renews it has it alone, and who looks
/// what it holds, or lets go of it, has `pinLock`.
final class SnapshotReader: @unchecked Sendable {
    private(set) var transaction: LMDBTransaction
    private var logCursor: LMDBCursor
    let lock = TracedMutex("snapshot")
    let roots = TableRoots()
    /// The version held; `noVersion` while there is none.
    private let heldVersion = Atomic<UInt64>(SharedPage.noVersion)
    private let heldSinceNs = Atomic<Int64>(0)

    private let pinLock = TracedMutex("pin")
    /// Keeps pages of its version, and of all after it, from being used again. What reads where there is no other mapping.
    private let pin: LMDBTransaction
    private let log: MDB_dbi
    private let path: String
    private enum Keeper { case nothing, inFile, inMapping }
    /// What keeps its version. Guarded by `pinLock`.
    private var keeper = Keeper.inFile
    /// What is read by. Written with `pinLock`.
    private(set) var map: ReadMap

    /// Takes the transaction over, which has begun.
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

    /// Ends the transactions for good. Not left to `deinit`: the environments must still be open.
    func end() {
        endReading()
        mdb_txn_abort(pin)
    }

    private func endReading() {
        mdb_cursor_close(logCursor)
        if transaction != pin { mdb_txn_abort(transaction) }
    }

    /// Moves on to the newest content and returns its version.
    /// - Parameter current: what snapshots read by.
    func renew(_ current: () -> ReadMap) throws(StoreError) -> UInt64 {
        try pinLock.withLock { () throws(StoreError) in
            // Whoever retires a mapping looks at every reader afterwards, and waits for this one.
            while map.isRetired.load(ordering: .sequentiallyConsistent) { try move(to: current()) }
            // First, so that what is read is not older.
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
        // To a few milliseconds: a quarter of the cost of an exact reading, at every snapshot.
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

    /// What it holds, and since when. Any thread.
    var held: (version: UInt64, sinceNs: Int64)? {
        let version = heldVersion.load(ordering: .acquiring)
        return version == SharedPage.noVersion ? nil : (version, heldSinceNs.load(ordering: .relaxed))
    }

    /// Lets go of the content.
    /// - Returns: whether it reads by a mapping that is retired, and gone once no reader has it.
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

    // MARK: What is held for long

    /// The engine's transaction that it keeps in the file, where it reads by `map`. Any thread.
    func pinned(by map: ReadMap) -> UInt64? {
        pinLock.withLock { self.map === map && keeper == .inFile ? LMDB.number(of: pin) : nil }
    }

    /// Keeps its version in the file no more, where it reads by `map`, which keeps it instead. Any thread.
    func unpin(_ map: ReadMap) {
        pinLock.withLock {
            guard self.map === map, keeper == .inFile else { return }
            mdb_txn_reset(pin)
            keeper = .inMapping
        }
    }

    /// Whether it does not need `map` any more. Any thread.
    func leave(_ map: ReadMap, for next: ReadMap) -> Bool {
        pinLock.withLock {
            if self.map !== map { return true }
            guard keeper == .nothing else { return false }
            do throws(StoreError) { try move(to: next) } catch { return false }
            return true
        }
    }
}
