// A read transaction at one version, shared by upkeep, connections and frozen collections. It ends with its last
// reference, on any thread.
//
// `reader.lock` guards the LMDB transaction: looking a row up initialises LMDB's per-transaction table records, so two
// threads may not do it at once. Memory returned is immutable until the snapshot ends and is read without the lock.
import CStillingWellLMDB
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

/// The store's content at `version`. Usable from any thread.
///
/// A sleeping snapshot holds no version. Its first read takes the newest version of that time. Until then, other
/// threads may only read `isAsleep`.
///
/// Most reads do not throw, because many callers cannot. A row that cannot be read counts as missing, and the
/// first failure is kept. Callers throw it with `checkReads` before they use the result. After some failures LMDB
/// refuses all later reads.
final class Snapshot: Sendable {
    private final class Failure: Sendable {
        let error: StoreError

        init(_ error: StoreError) { self.error = error }
    }

    /// The version, or `noVersion` while the snapshot is asleep.
    private let standing: Atomic<UInt64>
    let storage: Storage
    private let reader: SnapshotReader
    private let failed = AtomicLazyReference<Failure>()
    /// Whether `failed` is set. Reading the reference itself takes 500 instructions, because it is not specialised.
    private let hasFailed = Atomic(false)
    /// Thread that visits rows with the lock of `reader` and may read large values meanwhile, or 0.
    private let visitor = Atomic<UInt>(0)
    /// Whether the first read wakes the upkeep thread, which may not be woken by commits at that time.
    private let wakesUpkeep: Bool

    /// - Parameter version: nil for a sleeping snapshot.
    init(_ storage: Storage, _ reader: SnapshotReader, version: UInt64?, wakesUpkeep: Bool = false) {
        self.storage = storage
        self.reader = reader
        self.wakesUpkeep = wakesUpkeep
        standing = Atomic(version ?? SharedPage.noVersion)
    }

    /// Whether the snapshot holds no version yet. Any thread.
    var isAsleep: Bool { standing.load(ordering: .acquiring) == SharedPage.noVersion }

    var version: UInt64 {
        @inline(__always) get {
            let version = standing.load(ordering: .relaxed)
            return version == SharedPage.noVersion ? wake() : version
        }
    }

    /// Takes the newest version. If it cannot be read, the error becomes the first failure of this snapshot.
    @inline(never)
    private func wake() -> UInt64 {
        defer { if wakesUpkeep { storage.page.ring(.own) } }
        return reader.lock.withLock {
            var version = standing.load(ordering: .relaxed)
            guard version == SharedPage.noVersion else { return version }
            version = 0
            do throws(StoreError) {
                version = try storage.begin(reader)
            } catch {
                keep(error)
            }
            standing.store(version, ordering: .releasing)
            return version
        }
    }

    deinit { storage.recycle(reader) }

    /// Row of an object, valid while this snapshot is alive, or nil if there is none. O(log n).
    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let bytes = pages(table.rows, table.rowsName)?.value(IDKey(id: id.rawValue)) {
            return table.checked.contains(id.rawValue, at: version)
                ? RowReader(unchecked: bytes, unretained) : checkedRow(table, id, bytes)
        }
        return reading(or: nil) { (transaction) throws(EngineFailure) in
            try table.row(id, transaction, at: version, unretained)
        }
    }

    /// Row of an object, for callers with the reader's lock. Returns nil unless it is mapped and has been checked.
    func mappedRow(_ table: Table, _ id: ObjectID) -> RowReader? {
        guard let bytes = reader.roots.known(table.rows)?.value(IDKey(id: id.rawValue)),
            table.checked.contains(id.rawValue, at: version)
        else { return nil }
        return RowReader(unchecked: bytes, unretained)
    }

    @inline(never)
    private func checkedRow(_ table: Table, _ id: ObjectID, _ bytes: UnsafeRawBufferPointer) -> RowReader? {
        do throws(EngineFailure) {
            return try table.row(bytes, id.rawValue, at: version, unretained)
        } catch {
            keep(error)
            return nil
        }
    }

    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        let number = table.hasNumberKeys ? PrimaryKey.number(of: primaryKey) : nil
        // On a miss, LMDB is asked: it finds the object, proves that there is none, or reports damage.
        return number.flatMap({ find(table, $0) }) ?? findStored(table, primaryKey: primaryKey)
    }

    /// Object under a numeric key, encoded as by `PrimaryKey`. Returns nil if there is none or LMDB has to be asked.
    @inline(__always)
    private func find(_ table: Table, _ key: UInt64) -> ObjectID? {
        guard let index = table.primaryIndex,
            let entry = pages(index, table.keysName)?.value(NumberKey(key))
        else { return nil }
        let sum = withUnsafeBytes(of: key.bigEndian) { Checksum.key($0, table.id, nil) }
        return IDEntry.id(entry, key: sum).map { ObjectID(rawValue: $0) }
    }

    /// Number of rows under a key of an index, a number as `ColumnIndex.number`. Nil if LMDB has to be asked: there are
    /// none or many rows, the first entry is damaged, or the pages are not mapped.
    func mappedCount(_ index: ColumnIndex, _ key: UInt64) -> Int? {
        guard let values = pages(index.handle, index.name)?.values(NumberKey(key)) else { return nil }
        let sum = withUnsafeBytes(of: key.bigEndian) {
            Checksum.key($0, index.table, index.isUnique ? nil : index.column)
        }
        return IDEntry.id(values.first, key: sum) == nil ? nil : values.count
    }

    /// Mapped pages of a table, or nil if they can only be read through LMDB.
    @inline(__always)
    func pages(_ handle: MDB_dbi, _ name: @autoclosure () -> [UInt8]) -> PageTree? {
        reader.roots.known(handle) ?? findPages(handle, name())
    }

    @inline(never)
    private func findPages(_ handle: MDB_dbi, _ name: [UInt8]) -> PageTree? {
        if isAsleep { _ = wake() }
        return reading(or: nil) { (transaction) throws(EngineFailure) in
            try reader.roots.find(handle, name, transaction, reader.map.pageMap)
        }
    }

    /// Runs `body` with the transaction and the reader's lock.
    @inline(__always)
    func reading<Result>(or fallback: @autoclosure () -> Result, _ body: EngineRead<Result>) -> Result {
        if isAsleep { _ = wake() }
        return reader.lock.withLock {
            do throws(EngineFailure) {
                return try body(reader.transaction)
            } catch {
                keep(error)
                return fallback()
            }
        }
    }

    // MARK: Large values

    /// Notes that the calling thread holds the lock, so that large values are read without taking it.
    func beginReadingRows() { visitor.store(pthread_self(), ordering: .relaxed) }
    func endReadingRows() { visitor.store(0, ordering: .relaxed) }

    func bytes(ofLarge number: UInt64, sum: UInt32, byteCount: Int) -> UnsafeRawBufferPointer {
        let value = LargeValue(number: number, sum: sum, byteCount: byteCount)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        if visitor.load(ordering: .relaxed) == pthread_self() {
            do throws(EngineFailure) {
                return try storage.bytes(of: value, reader.transaction)
            } catch {
                keep(error)
                return none
            }
        }
        if let found = pages(storage.values, Storage.valuesName)?.value(IDKey(id: number)),
            storage.isWhole(value, found)
        {
            return found
        }
        return reading(or: none) { (transaction) throws(EngineFailure) in try storage.bytes(of: value, transaction) }
    }

    /// Keeps a failure, if it is the first one.
    func keep(_ failure: EngineFailure) { keep(storage.error(failure, "read")) }

    private func keep(_ error: StoreError) {
        _ = failed.storeIfNil(Failure(error))
        hasFailed.store(true, ordering: .releasing)
    }

    /// Error of the first failed read of this snapshot, else that of a truncated file; nil if there is neither.
    var failure: StoreError? {
        (hasFailed.load(ordering: .acquiring) ? failed.load()?.error : nil) ?? storage.cutFailure
    }

    /// Returns a row as `row` does. If there is none, throws `failure`, if that is set. O(log n).
    func readRow(_ table: Table, _ id: ObjectID) throws(StoreError) -> RowReader? {
        if let row = row(table, id) { return row }
        try checkReads()
        return nil
    }

    /// Returns a row, for callers that cannot throw. If there is none, ends the process if `failure` is set.
    func rowOrStop(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let row = row(table, id) { return row }
        if let failure { stopProgram("\(failure)") }
        return nil
    }

    /// Throws `failure`, if that is set.
    func checkReads() throws(StoreError) { if let failure { throw failure } }

    /// Logged changes between an older version and this one, or nil if the log does not list all of them.
    func changes(after version: UInt64) -> [LoggedChange]? {
        reading(or: nil) { (transaction) throws(EngineFailure) in
            try ChangeLog.read(transaction, storage.log, after: version, to: self.version)
        }
    }
}
