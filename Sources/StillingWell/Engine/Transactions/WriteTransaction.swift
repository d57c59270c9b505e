// One write transaction: rows, primary-key index and log entry change together or not at all. It exists only while the
// write lock is held. It begins and ends on the thread that owns the lock: the caller's, or a host thread.
//
// The row being changed is kept open in a buffer, so that setting five properties of an object stores its row once. A
// failure inside a property setter cannot be thrown there: it is kept in `failure`, and thrown instead of committing.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellSync

final class WriteTransaction {
    /// What became of a transaction, for objects that were added in it. Written on the writing thread.
    final class Fate {
        fileprivate(set) var isCancelled = false
    }

    let storage: Storage
    private(set) var transaction: LMDBTransaction
    /// The transaction around the part that is being run, and what it had before.
    private var whole: (transaction: LMDBTransaction, entries: Int, nextIDs: [UInt64?])?
    /// The version this commit will have.
    let version: UInt64
    /// The engine's number for it.
    let engineNumber: UInt64
    /// Changes at every modification: what was read before may be out of date.
    private(set) var generation = 0
    /// The first thing that went wrong in a place that cannot throw.
    private(set) var failure: StoreError?
    /// Objects changed so far, in order; the same object may come again.
    @exclusivity(unchecked) private(set) var entries: [LogEntry] = []
    /// When the write was asked for; nil where nobody records that.
    var beganNs: Int64?

    private var openTable: Table?
    private var openID = ObjectID(rawValue: 0)
    private var isOpenRowDirty = false
    /// The large values that the open row has had.
    private var openValues: [LargeValue] = []
    /// The number of the next large value; nil until one was stored.
    private var nextValue: UInt64?
    private let buffer: RowBuffer
    /// One per table that was changed, which are few: looked through, which costs less than a hash.
    @exclusivity(unchecked) private var writers: [TableWriter] = []
    /// Of the table that was changed last: most writes stay with one for long.
    private var lastWriter: TableWriter?
    private var isOver = false
    /// After a silent commit: waits while who follows it holds too many snapshots. Not with a lock of the store's held.
    var waitsForRoom: [() -> Void] = []
    /// Why the disk did not take the commit, after `end`: it can be seen until the store is opened again.
    var flushFailure: StoreError?
    /// Whether the commit is in the store.
    private(set) var isCommitted = false
    /// Made once an object is added, or seen that was.
    private var knownFate: Fate?
    var fate: Fate {
        if let knownFate { return knownFate }
        let fate = Fate()
        knownFate = fate
        return fate
    }
    /// Of the parts that are over.
    private var fates: [Fate] = []
    private let thread = pthread_self()
    /// The thread that owns the lock, if that is none of the caller's: then any thread may use and end the transaction.
    var host: HostThread?
    /// Whether the caller may end the transaction.
    var mayEndHere: Bool { host != nil || pthread_equal(thread, pthread_self()) != 0 }

    /// Begins; the caller holds the write lock.
    init(_ storage: Storage, buffer: RowBuffer) throws(StoreError) {
        self.storage = storage
        self.buffer = buffer
        try storage.reserveForWrite()
        var transaction: LMDBTransaction?
        let code = mdb_txn_begin(storage.environment, nil, 0, &transaction)
        try storage.check(code, "begin write")
        self.transaction = transaction!
        engineNumber = LMDB.number(of: transaction)
        do throws(EngineFailure) {
            version = try ChangeLog.version(transaction!, storage.log) + 1
        } catch {
            engine_abort(transaction)
            throw storage.error(error, "read log")
        }
        storage.noticeForeignCommits(to: version - 1, self.transaction)
    }

    // MARK: Reading

    /// The row as this transaction has it; valid until its next change.
    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        if isOpenRowDirty, id == openID, table.id == openTable?.id { return buffer.reader }
        do throws(StoreError) {
            return try stored(table, id)
        } catch {
            fail(error)
            return nil
        }
    }

    /// The row as it was stored last.
    private func stored(_ table: Table, _ id: ObjectID) throws(StoreError) -> RowReader? {
        try storage.reading("read row") { () throws(EngineFailure) in
            try table.row(id, transaction, at: version, unretained)
        }
    }

    /// Throws what the engine has reported in this transaction, as the commit will.
    func checkReads() throws(StoreError) { if let engineFailure { throw engineFailure } }

    private var engineFailure: StoreError? { failure?.isOfFile == true ? failure : nil }

    /// Why a block has thrown `error`: what the engine has reported comes before what the block made of it.
    func cause(of error: any Error) -> any Error { engineFailure ?? error }

    /// The object with this primary key.
    func find(_ table: Table, primaryKey: ColumnValue) -> ObjectID? {
        guard let index = table.primaryIndex else { return nil }
        return PrimaryKey.withBytes(of: primaryKey) { bytes in
            do throws(StoreError) {
                return try storage.reading("find key") { () throws(EngineFailure) in
                    try table.find(bytes, index, transaction)
                }
            } catch {
                fail(error)
                return nil
            }
        }
    }

    /// Whether this transaction has made the row.
    func isNew(_ table: Table, _ id: ObjectID) -> Bool {
        known(table)?.firstNewID.map { id.rawValue >= $0 } ?? false
    }

    // MARK: Changing

    /// Keeps the first failure of a place that cannot throw.
    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// Changes one column of a row through `body`.
    func update(_ table: Table, _ id: ObjectID, _ column: Int, _ body: (RowBuffer) -> Void) throws(StoreError) {
        if !(isOpenRowDirty && id == openID && table.id == openTable?.id) {
            // First, because storing a row invalidates what was read before.
            try closeRow()
            guard let row = try stored(table, id) else { throw .invalidatedObject(table: table.schema.name) }
            buffer.load(row, columnCount: table.schema.columns.count, outOfLine: table.layout.outOfLine)
            if buffer.hasLarge || !openValues.isEmpty { openValues = buffer.largeValues }
            open(table, id)
            entries.append(LogEntry(table: table.id, .update, id: id.rawValue, columns: 0))
        }
        body(buffer)
        entries[entries.count - 1].columns |= 1 << UInt64(column)
        generation += 1
    }

    private func open(_ table: Table, _ id: ObjectID) {
        openTable = table
        openID = id
        isOpenRowDirty = true
    }

    /// Stores the open row.
    func closeRow() throws(StoreError) {
        guard isOpenRowDirty, let table = openTable else { return }
        isOpenRowDirty = false
        guard let links = table.links, links.followedColumns & entries[entries.count - 1].columns != 0 else {
            return try put(table, openID, isNew: false)
        }
        var followers = FollowerChanges()
        try step { () throws(StoreError) in
            followers = FollowerChanges(links, from: try stored(table, openID), to: buffer.reader)
        }
        try put(table, openID, isNew: false)
        try step { () throws(StoreError) in try apply(followers, openID) }
    }

    /// Runs a step of a change. If it fails, so will the commit: the block may catch the error, but half a change must not
    /// be stored.
    func step(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            fail(error)
            throw error
        }
    }

    private func put(_ table: Table, _ id: ObjectID, isNew: Bool) throws(StoreError) {
        try step { () throws(StoreError) in
            if buffer.isLong { try moveLarge(table) }
            if buffer.isWasteful {
                buffer.compact(columnCount: table.schema.columns.count, outOfLine: table.layout.outOfLine)
            }
            try writer(table).store(buffer, id, isNew: isNew, transaction)
            if isNew || openValues.isEmpty { return }
            let kept = buffer.largeValues
            try storage.deleteValues(openValues.lazy.filter { !kept.contains($0) }.map(\.number), transaction)
        }
    }

    /// Stores what of the open row is to lie apart.
    @inline(never)
    private func moveLarge(_ table: Table) throws(StoreError) {
        if let error = buffer.error(table.schema) { throw error }
        try buffer.moveLarge(
            table.layout.largeColumns, columnCount: table.schema.columns.count, to: unretained
        ) { value throws(StoreError) in
            try storage.put(value, number: try takeValueNumber(), transaction)
        }
    }

    /// The counter is stored at commit, so that numbers are never used twice.
    private func takeValueNumber() throws(StoreError) -> UInt64 {
        var number = nextValue
        if number == nil {
            number = try storage.reading("read counter") { () throws(EngineFailure) in
                try RowCounter.next(LargeValue.counter, transaction, storage.meta)
            }
        }
        nextValue = number! + 1
        return number!
    }

    /// What this write keeps of a table.
    private func writer(_ table: Table) -> TableWriter {
        if let lastWriter, lastWriter.table === table { return lastWriter }
        if let known = known(table) {
            lastWriter = known
            return known
        }
        let writer = TableWriter(table, storage)
        writers.append(writer)
        lastWriter = writer
        return writer
    }

    private func known(_ table: Table) -> TableWriter? { writers.first { $0.table === table } }

    /// Stores a new row with the values that `fill` writes.
    /// - Throws: `duplicatePrimaryKey`, `primaryKeyTooLong`.
    func insert(_ table: Table, _ fill: (RowBuffer) -> Void) throws(StoreError) -> ObjectID {
        try closeRow()
        fill(buffer)
        let writer = writer(table)
        let id = ObjectID(rawValue: try writer.takeID(transaction))
        if let column = table.schema.primaryKey, let index = table.primaryIndex {
            let type = table.schema.columns[column].type
            let code = PrimaryKey.withBytes(of: buffer.reader, column, type) { bytes in
                bytes.count > PrimaryKey.maxBytes ? EMSGSIZE : writer.addKey(bytes, index, id, transaction)
            }
            if code != 0 {
                throw PrimaryKey.error(code, buffer.reader, column, table.schema)
                    ?? storage.error(code, "store primary key")
            }
        }
        try put(table, id, isNew: true)
        if let links = table.links, links.followedColumns != 0 {
            let followers = FollowerChanges(links, from: nil, to: buffer.reader)
            try step { () throws(StoreError) in try apply(followers, id) }
        }
        entries.append(LogEntry(table: table.id, .insert, id: id.rawValue))
        generation += 1
        return id
    }

    /// Deletes a row, its keys and what leads to it. An object that is gone already is left alone.
    /// - Parameter isListed: false for an element of a list that is gone as a whole.
    func delete(_ table: Table, _ id: ObjectID, isListed: Bool = true) throws(StoreError) {
        try closeRow()
        guard let row = try stored(table, id) else { return }
        var followers = table.links.map { FollowerChanges($0, from: row, to: nil) } ?? FollowerChanges()
        if !isListed { followers.place = nil }
        if let column = table.schema.primaryKey, let index = table.primaryIndex {
            let code = PrimaryKey.withBytes(of: row, column, table.schema.columns[column].type) { bytes in
                var key = MDB_val(bytes)
                return engine_del(transaction, index, &key, nil)
            }
            try step { () throws(StoreError) in try storage.check(code, "delete primary key") }
        }
        let values = row.largeValues
        let code = LMDB.withNumber(id.rawValue) { engine_del(transaction, table.rows, &$0, nil) }
        try step { () throws(StoreError) in
            try storage.check(code, "delete row")
            try storage.deleteValues(values.lazy.map(\.number), transaction)
        }
        entries.append(LogEntry(table: table.id, .delete, id: id.rawValue))
        generation += 1
        if let links = table.links {
            try step { () throws(StoreError) in
                try apply(followers, id)
                try cutLinks(links, to: id)
            }
        }
    }

    // MARK: Parts

    /// Begins a part that can be cancelled alone. Not where the file is written through the map.
    func beginPart() throws(StoreError) {
        try closeRow()
        closeCursors()
        var part: LMDBTransaction?
        try storage.check(mdb_txn_begin(storage.environment, transaction, 0, &part), "begin part of a write")
        whole = (transaction, entries.count, writers.map(\.nextID))
        transaction = part!
        if let knownFate { fates.append(knownFate) }
        knownFate = nil
    }

    /// Makes the part's changes the whole's.
    func commitPart() throws(StoreError) {
        if let failure { throw failure }
        try closeRow()
        guard let whole else { return }
        closeCursors()
        self.whole = nil
        if let knownFate { fates.append(knownFate) }
        knownFate = nil
        let part = transaction
        transaction = whole.transaction
        try storage.check(engine_commit(part), "commit part of a write")
    }

    /// Forgets the part's changes, and what went wrong in it.
    func cancelPart() {
        guard let whole else { return }
        self.whole = nil
        isOpenRowDirty = false
        closeCursors()
        engine_abort(transaction)
        transaction = whole.transaction
        entries.removeSubrange(whole.entries...)
        // Those that the part has added come behind the others.
        for (number, writer) in writers.enumerated() {
            writer.takeBackIDs(to: number < whole.nextIDs.count ? whole.nextIDs[number] : nil)
        }
        knownFate?.isCancelled = true
        knownFate = nil
        failure = nil
        generation += 1
    }

    // MARK: Ending

    /// Commits, unless nothing was changed. The transaction is over either way. On the thread that owns the lock.
    /// - Returns: the store's version now.
    func commitHere() throws(StoreError) -> UInt64 {
        defer { cancel() }
        if let failure { throw failure }
        // Rows that were read for it may have been zeros.
        if let cut = storage.cutFailure { throw cut }
        try closeRow()
        if entries.isEmpty { return version - 1 }
        for writer in writers { try writer.storeCounter(transaction) }
        if let nextValue {
            let code = RowCounter.store(LargeValue.counter, nextValue, transaction, storage.meta)
            try storage.check(code, "store counter")
        }
        try writeLog()
        isOver = true
        closeCursors()
        storage.checkedVersions.willCommit(version)
        let code = engine_commit(transaction)
        if code != 0 {
            storage.checkedVersions.didNotCommit()
            markCancelled()
        }
        try storage.check(code, "commit")
        storage.checkedVersions.didCommit(version)
        isCommitted = true
        return version
    }

    /// Forgets every change. Does nothing once the transaction is over. On the thread that owns the lock.
    func cancel() {
        guard !isOver else { return }
        cancelPart()
        isOver = true
        if !entries.isEmpty { markCancelled() }
        closeCursors()
        engine_abort(transaction)
    }

    private func markCancelled() {
        for fate in fates { fate.isCancelled = true }
        knownFate?.isCancelled = true
    }

    private func closeCursors() { for writer in writers { writer.closeCursors() } }

    private func writeLog() throws(StoreError) {
        // No entry says: too much to list, compare snapshots.
        let listed = entries.count <= ChangeLog.maxEntriesPerCommit ? entries[...] : []
        try storage.reserve(ChangeLog.byteCount(listed.count))
        try storage.check(ChangeLog.append(listed, version, transaction, storage.log), "store log")
        if version % ChangeLog.pruneEvery == 0 { try pruneLog() }
    }

    /// Takes away entries every follower has passed, and those beyond the hard cap.
    private func pruneLog() throws(StoreError) {
        let followed = min(storage.page.oldestFollowedVersion(), version)
        let capped = version > ChangeLog.maxVersions ? version - ChangeLog.maxVersions : 0
        let limit = max(followed, capped)
        for _ in 0..<(2 * ChangeLog.pruneEvery) {
            let oldest = try storage.reading("prune log") { () throws(EngineFailure) in
                try LMDB.firstID(transaction, storage.log)
            }
            guard let oldest, oldest < limit else { return }
            try storage.check(LMDB.withNumber(oldest) { engine_del(transaction, storage.log, &$0, nil) }, "prune log")
        }
    }
}
