// A read transaction at one version, shared by whoever stands at that version: upkeep, connections, frozen
// collections. It ends with its last reference, on whatever thread that is.
//
// `reader.lock` guards the LMDB transaction: looking a row up initialises LMDB's per-transaction table records, so two
// threads may not do it at once. Memory returned is immutable until the snapshot ends and is read without the lock.
import CStillingWellLMDB
import Glibc
import StillingWellBasis
import StillingWellSync
import Synchronization

/// The store's content at `version`. Any thread.
///
/// One that is made asleep holds no version until something is asked of it, and from then on the one that is the newest then. Who
/// makes it hands it on to nobody before: other threads may ask it whether it is asleep, and nothing else.
///
/// Reads do not throw: there are too many places where a row that cannot be read is, for the moment, as good as none. The
/// first thing that the engine reports instead of a row is kept, and whoever has read throws it with `checkReads` before
/// the outcome is used. The engine itself refuses everything after it.
final class Snapshot: Sendable {
    private final class Failure: Sendable {
        let error: StoreError

        init(_ error: StoreError) { self.error = error }
    }

    /// The version; `noVersion` as long as it is asleep.
    private let standing: Atomic<UInt64>
    let storage: Storage
    private let reader: SnapshotReader
    private let failed = AtomicLazyReference<Failure>()
    /// Whether there is one: the reference itself takes 500 instructions to look at, as it is not specialised.
    private let hasFailed = Atomic(false)
    /// The thread that is visiting rows with the lock of `reader`, and may come to large values meanwhile; 0 for none.
    private let visitor = Atomic<UInt>(0)
    /// Whether upkeep, which may hear of no commits, is told when it wakes.
    private let wakesUpkeep: Bool

    /// - Parameter version: nil for one that is asleep.
    init(_ storage: Storage, _ reader: SnapshotReader, version: UInt64?, wakesUpkeep: Bool = false) {
        self.storage = storage
        self.reader = reader
        self.wakesUpkeep = wakesUpkeep
        standing = Atomic(version ?? SharedPage.noVersion)
    }

    /// Whether it holds no version yet. Any thread.
    var isAsleep: Bool { standing.load(ordering: .acquiring) == SharedPage.noVersion }

    var version: UInt64 {
        @inline(__always) get {
            let version = standing.load(ordering: .relaxed)
            return version == SharedPage.noVersion ? wake() : version
        }
    }

    /// Takes the newest version. Where it cannot be read, that is the first failure of this snapshot.
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
                _ = failed.storeIfNil(Failure(error))
            }
            standing.store(version, ordering: .releasing)
            return version
        }
    }

    deinit { storage.recycle(reader) }

    /// The row of object `id`, valid while this snapshot is alive; nil when there is none. O(log n).
    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let bytes = pages(table.rows, table.rowsName)?.value(IDKey(id: id.rawValue)) {
            return table.checked.contains(id.rawValue, at: version)
                ? RowReader(unchecked: bytes, unretained) : checkedRow(table, id, bytes)
        }
        return reading(or: nil) { (transaction) throws(EngineFailure) in
            try table.row(id, transaction, at: version, unretained)
        }
    }

    /// The row of an object, for who has the engine's lock: where it is found without the engine, and has been checked.
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

    /// The object with this primary key.
    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        let number = table.hasNumberKeys ? PrimaryKey.number(of: primaryKey) : nil
        // The engine finds what is not here, or says what is wrong.
        return number.flatMap({ find(table, $0) }) ?? findStored(table, primaryKey: primaryKey)
    }

    /// By a key that is a number, as `PrimaryKey` orders it; nil where there is none, or where the engine has to be asked.
    @inline(__always)
    private func find(_ table: Table, _ key: UInt64) -> ObjectID? {
        guard let index = table.primaryIndex,
            let entry = pages(index, table.keysName)?.value(NumberKey(key))
        else { return nil }
        let sum = withUnsafeBytes(of: key.bigEndian) { Checksum.key($0, table.id, nil) }
        return IDEntry.id(entry, key: sum).map { ObjectID(rawValue: $0) }
    }

    /// The pages of a table, where they can be read without the engine.
    @inline(__always)
    func pages(_ handle: MDB_dbi, _ name: [UInt8]) -> PageTree? {
        reader.roots.known(handle) ?? findPages(handle, name)
    }

    @inline(never)
    private func findPages(_ handle: MDB_dbi, _ name: [UInt8]) -> PageTree? {
        if isAsleep { _ = wake() }
        return reading(or: nil) { (transaction) throws(EngineFailure) in
            try reader.roots.find(handle, name, transaction, reader.map.pageMap)
        }
    }

    /// Runs `body` with the transaction, alone among the users of this snapshot.
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

    /// From here on large values are read with the lock that the caller has.
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

    /// The first one stays.
    func keep(_ failure: EngineFailure) {
        _ = failed.storeIfNil(Failure(storage.error(failure, "read")))
        hasFailed.store(true, ordering: .releasing)
    }

    /// The first read that the engine has failed in; nil where every one so far has found what there is.
    var failure: StoreError? {
        (hasFailed.load(ordering: .acquiring) ? failed.load()?.error : nil) ?? storage.cutFailure
    }

    /// As `row`, with a failure told apart from a row that is not there. O(log n).
    func readRow(_ table: Table, _ id: ObjectID) throws(StoreError) -> RowReader? {
        if let row = row(table, id) { return row }
        try checkReads()
        return nil
    }

    /// The row, for whoever has no way to fail: ends the process where the engine could not tell whether there is one.
    func rowOrStop(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let row = row(table, id) { return row }
        if let failure { stopProgram("\(failure)") }
        return nil
    }

    /// Throws what the engine has reported to any read of this snapshot.
    func checkReads() throws(StoreError) { if let failure { throw failure } }

    /// The log between an older version and this one; nil where it cannot tell.
    func changes(after version: UInt64) -> [LoggedChange]? {
        reading(or: nil) { (transaction) throws(EngineFailure) in
            try ChangeLog.read(transaction, storage.log, after: version, to: self.version)
        }
    }
}
