// One write transaction: rows, indexes and log entry change together or not at all. Its LMDB transaction exists only
// while the write lock is held. It begins and ends on the thread that owns the lock: the caller's, or a host thread.
//
// The row being changed stays open in a buffer, so that setting five properties of an object stores its row once. A
// property setter cannot throw: its failure is kept in `failure` and thrown instead of committing.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc
import StillingWellSync

final class WriteTransaction {
    /// Outcome of a transaction or of a part, for objects added in it. Written by the thread on which that ends.
    final class Fate {
        fileprivate(set) var isCancelled = false
    }

    let storage: Storage
    private(set) var transaction: LMDBTransaction
    /// The outer transaction while a part runs, and its state before the part.
    private var whole: (transaction: LMDBTransaction, entries: Int, nextIDs: [UInt64?])?
    /// Version that this commit will have.
    let version: UInt64
    /// LMDB's number of the transaction.
    let engineNumber: UInt64
    /// Incremented at every modification. Rows read in an earlier generation may be out of date.
    private(set) var generation = 0
    /// First failure in a place that cannot throw.
    private(set) var failure: StoreError?
    /// Objects changed so far, in order. The same object may occur more than once.
    @exclusivity(unchecked) private(set) var entries: [LogEntry] = []
    /// Time at which the write was requested, or nil if that is not recorded.
    var beganNs: Int64?

    private var openTable: Table?
    private var openID = ObjectID(rawValue: 0)
    private var isOpenRowDirty = false
    /// Large values that the open row had before.
    private var openValues: [LargeValue] = []
    /// Number of the next large value; nil until one was taken.
    private var nextValue: UInt64?
    private let buffer: RowBuffer
    /// One per changed table. They are few, so a linear search costs less than a hash.
    @exclusivity(unchecked) private var writers: [TableWriter] = []
    /// Writer of the table that was changed last: most writes change one table many times.
    private var lastWriter: TableWriter?
    private var isOver = false
    /// Waits after a suppressing commit while its followers hold too many snapshots. Called without locks of the store.
    var waitsForRoom: [() -> Void] = []
    /// Why the flush in `end` failed. The commit stays visible until the store is opened again.
    var flushFailure: StoreError?
    /// Whether the transaction has been committed.
    private(set) var isCommitted = false
    /// Made when an object is added, or an added object is read.
    private var knownFate: Fate?
    var fate: Fate {
        if let knownFate { return knownFate }
        let fate = Fate()
        knownFate = fate
        return fate
    }
    /// Earlier values of `knownFate`, except those of cancelled parts.
    private var fates: [Fate] = []
    private let thread = pthread_self()
    /// Thread that owns the lock, if it is not the caller's. Then any thread may use and end the transaction.
    var host: HostThread?
    /// Whether the caller may end the transaction.
    var mayEndHere: Bool { host != nil || pthread_equal(thread, pthread_self()) != 0 }

    /// Begins a transaction. Requires the write lock.
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

    /// Row as this transaction sees it, valid until the next change, or until a read stores the open row. Nil if there
    /// is none or it cannot be read.
    func row(_ table: Table, _ id: ObjectID) -> RowReader? {
        if isOpenRowDirty, id == openID, table.id == openTable?.id { return buffer.reader }
        do throws(StoreError) {
            return try stored(table, id)
        } catch {
            fail(error)
            return nil
        }
    }

    /// Row as it was last stored.
    /// - Parameter isStoredNext: whether the caller stores the same row next, for which the search leaves the cursor in
    ///   its place.
    private func stored(_ table: Table, _ id: ObjectID, isStoredNext: Bool = false) throws(StoreError) -> RowReader? {
        try storage.reading("read row") { () throws(EngineFailure) in
            guard let writer = lastWriter, writer.table === table, isStoredNext || writer.isNear(id) else {
                return try table.row(id, transaction, at: version, unretained)
            }
            return try writer.row(id.rawValue, transaction).map { (bytes) throws(EngineFailure) in
                try table.row(bytes, id.rawValue, at: version, unretained)
            }
        }
    }

    /// Throws the first failure of this transaction, as the commit will, if that `isOfFile`.
    func checkReads() throws(StoreError) { if let engineFailure { throw engineFailure } }

    private var engineFailure: StoreError? { failure?.isOfFile == true ? failure : nil }

    /// Cause of an error thrown by a block: the first failure if that `isOfFile`, else the block's error.
    func cause(of error: any Error) -> any Error { engineFailure ?? error }

    /// Returns whether this transaction inserted the row.
    func isNew(_ table: Table, _ id: ObjectID) -> Bool {
        known(table)?.firstNewID.map { id.rawValue >= $0 } ?? false
    }

    // MARK: Changing

    /// Keeps a failure of a place that cannot throw, if it is the first one.
    func fail(_ error: StoreError) { if failure == nil { failure = error } }

    /// Changes one column of a row through `body`.
    func update(_ table: Table, _ id: ObjectID, _ column: Int, _ body: (RowBuffer) -> Void) throws(StoreError) {
        if !(isOpenRowDirty && id == openID && table.id == openTable?.id) {
            // First, because storing a row invalidates rows read before.
            try closeRow()
            try load(table, id)
            open(table, id)
            entries.append(LogEntry(table: table.id, .update, id: id.rawValue, columns: 0))
        }
        body(buffer)
        entries[entries.count - 1].columns |= 1 << UInt64(column)
        generation += 1
    }

    /// Sets a link to nil whose index entry has been removed.
    func clearLink(_ table: Table, _ id: ObjectID, _ column: Int) throws(StoreError) {
        try load(table, id)
        buffer.setNull(column)
        entries.append(LogEntry(table: table.id, .update, id: id.rawValue, columns: 1 << UInt64(column)))
        generation += 1
        try put(table, id, isNew: false)
    }

    /// Loads a row that is to be changed into the buffer.
    @inline(__always)
    private func load(_ table: Table, _ id: ObjectID) throws(StoreError) {
        guard let row = try stored(table, id, isStoredNext: true) else {
            throw .invalidatedObject(table: table.schema.name)
        }
        buffer.load(row, columnCount: table.schema.columns.count, outOfLine: table.layout.outOfLine)
        if buffer.hasLarge || !openValues.isEmpty { openValues = buffer.largeValues }
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
            followers = FollowerChanges(links, from: try stored(table, openID, isStoredNext: true), to: buffer.reader)
        }
        try put(table, openID, isNew: false)
        try step { () throws(StoreError) in try apply(followers, openID) }
    }

    /// Runs a step of a change. If it fails, so will the commit: the block may catch the error, but half a change must
    /// not be stored.
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

    /// Moves large values of the open row to their own table.
    @inline(never)
    private func moveLarge(_ table: Table) throws(StoreError) {
        if let error = buffer.error(table.schema) { throw error }
        try buffer.moveLarge(
            table.layout.largeColumns, columnCount: table.schema.columns.count, to: unretained
        ) { value throws(StoreError) in
            try storage.put(value, number: try takeValueNumber(), transaction)
        }
    }

    /// Takes the number of a new large value. The counter is stored at commit, so no two commits use one number.
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

    /// Writer of a table in this transaction.
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
    /// - Throws: `duplicatePrimaryKey`, `primaryKeyTooLong`, `valueTooLong`, and errors of reading and storing.
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

    /// Deletes a row, its keys and the links to it. Does nothing if the row was deleted already.
    /// - Parameter isListed: false for an element of a list that is removed as a whole.
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

    /// Empties LMDB's tables of a table's rows, keys and index entries.
    /// - Parameter ids: all objects of the table, for the log.
    func empty(_ table: Table, _ ids: [ObjectID]) throws(StoreError) {
        try closeRow()
        known(table)?.closeCursors()
        let keys = table.primaryIndex.map { [$0] } ?? []
        try step { () throws(StoreError) in
            for handle in [table.rows] + keys + (table.links?.indexes.map(\.handle) ?? []) {
                try storage.check(engine_drop(transaction, handle, 0), "empty table")
            }
        }
        entries += ids.map { LogEntry(table: table.id, .delete, id: $0.rawValue) }
        generation += 1
    }

    // MARK: Parts

    /// Begins a part that can be cancelled alone. Not supported if the file is written through the map.
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

    /// Makes the changes of the part changes of the whole transaction.
    func commitPart() throws(StoreError) {
        if let failure { throw failure }
        try closeRow()
        guard let whole else { return }
        closeCursors()
        self.whole = nil
        let part = transaction
        transaction = whole.transaction
        do {
            try storage.check(engine_commit(part), "commit part of a write")
        } catch {
            discardPart(whole.entries, whole.nextIDs)
            throw error
        }
        if let knownFate { fates.append(knownFate) }
        knownFate = nil
    }

    /// Discards the changes of the part, and any failure. Does nothing outside of a part.
    func cancelPart() {
        guard let whole else { return }
        self.whole = nil
        isOpenRowDirty = false
        closeCursors()
        engine_abort(transaction)
        transaction = whole.transaction
        discardPart(whole.entries, whole.nextIDs)
        failure = nil
    }

    /// Forgets what a part has noted: log entries from `first`, and ids.
    private func discardPart(_ first: Int, _ nextIDs: [UInt64?]) {
        entries.removeSubrange(first...)
        // Writers added by the part follow the others.
        for (number, writer) in writers.enumerated() {
            writer.takeBackIDs(to: number < nextIDs.count ? nextIDs[number] : nil)
        }
        knownFate?.isCancelled = true
        knownFate = nil
        generation += 1
    }

    // MARK: Ending

    /// Commits, unless nothing was changed. The transaction is over either way. On the thread that owns the lock.
    /// - Returns: the store's newest version.
    func commitHere() throws(StoreError) -> UInt64 {
        defer { cancel() }
        if let failure { throw failure }
        // Rows read by this write may have been zeros of a truncated file.
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

    /// Discards every change. Does nothing once the transaction is over. On the thread that owns the lock.
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
}
