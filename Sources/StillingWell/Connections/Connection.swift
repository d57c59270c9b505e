// The base class of connections. A `LiveConnection` belongs to a run loop, queue, actor or custom scheduler, whose
// deliveries move it to newer versions. A `BlockConnection` lives for one `store.read` or `store.write` block, or for
// one asynchronous write. A `FrozenConnection` serves frozen objects and collections.
//
// A connection has no lock. A live one is used on its scheduler; other threads send it mail (`Mailbox`). Another one is
// used by one thread at a time.
import CStillingWellPlatform
import StillingWellBasis

/// A view of the store that belongs to one scheduler, or to one block such as that of `store.read`. Not Sendable. Most
/// calls from outside of its scheduler stop the program with a message that names both places.
public class Connection {
    /// Store that this connection reads.
    public final let store: Store
    final let core: StoreCore
    /// Version that membership and order of results are read at. For a live connection, that of the last delivery, of
    /// its opening, or of its first use after it was asleep. nil if everything is read from a transaction, and after
    /// the connection has ended.
    final var delivered: Snapshot?
    /// Version that properties are read at outside of a write. Newer than `delivered` after an own commit or
    /// `readNewest`; a callback begins at `delivered`.
    final private(set) var shown: Snapshot?

    final var transaction: WriteTransaction? { didSet { rowEpoch += 1 } }
    /// Incremented when row positions cached by objects become invalid: when another version is read, and when a write
    /// begins or ends. During a write no row position is cached.
    private(set) final var rowEpoch = 0
    /// State of adding objects with links or lists. nil until first used.
    private final var madeAdditions: Additions?
    final var additions: Additions {
        if let madeAdditions { return madeAdditions }
        let additions = Additions()
        madeAdditions = additions
        return additions
    }
    private final var lastTable: (model: StoredObject.Type, table: Table)?
    final var queries = KnownQueries()
    /// Incremented when shown rows become invalid. In a connection that is not live, each change increments it.
    final var epoch = 0

    /// Whether the connection moves to newer versions by itself. If false, it stays at its version until `refresh()`.
    /// Observers of the whole store are then told `.refreshRequired` when a newer version exists. The file, or memory
    /// of this process, keeps this version's pages meanwhile.
    public var autorefresh = true

    /// Number of the thread (`cp_thread_number`) on which `checkPlace` skips `checkScheduler`. 0: on none. `anyThread`:
    /// on all.
    final var thread = Connection.anyThread
    static let anyThread = UInt64.max

    init(_ store: Store, at snapshot: Snapshot?) {
        self.store = store
        core = store.core
        delivered = snapshot
        shown = snapshot
    }

    /// Sets the version that properties are read at. Before and after a callback it is usually the same one.
    @inline(__always)
    final func read(from snapshot: Snapshot?) {
        if shown === snapshot { return }
        shown = snapshot
        rowEpoch += 1
    }

    // MARK: Overridden by kinds of connections

    /// Whether this connection serves a frozen object or collection. It then reads one version and cannot write.
    public var isFrozen: Bool { false }

    var isOver: Bool { false }

    /// Error text for a use of this connection here, or nil if that is known to be allowed, which it never is on an
    /// actor.
    var misuse: String? { nil }

    /// Stops the program if the caller is not on the connection's scheduler.
    func checkScheduler() {}

    /// Fast form of `checkScheduler`, called at each read of a property.
    @inline(__always)
    final func checkPlace() {
        if thread != Self.anyThread, thread != cp_thread_number() { checkScheduler() }
    }

    /// Newest version of this connection, including its own commits, even while a callback is shown an older one.
    var newest: Snapshot? { delivered }

    /// Reads properties at the store's newest version from here on. Results change only with the next delivery.
    /// - Throws: `referenceTooNew` if this connection cannot, and errors of `openSnapshot`.
    func readNewest(forVersion version: UInt64) throws(StoreError) {
        throw .referenceTooNew(version: version, connection: versionRead)
    }

    /// Throws an error that earlier reads of this connection met, such as a damaged page.
    func checkReads() throws(StoreError) {
        try transaction?.checkReads()
        try delivered?.checkReads()
    }

    /// Handles an error outside of a write that cannot be thrown. A connection of one block keeps it for the end of
    /// the block. On any other the process ends with the error: an empty collection would be a wrong result, and no
    /// caller would be told.
    func noteFailure(_ error: StoreError) { stopProgram("\(error)") }

    func rows(_ query: ConnectionQuery) throws(StoreError) -> TreeSlice {
        if let shown = query.shown, shown.epoch == epoch { return shown.rows }
        if let fault = query.plan.fault { throw fault }
        let rows = try evaluate(query.plan.tree, query.table).slice(query.window)
        show(rows, query)
        return rows
    }

    /// State that cached rows must have for `rows` to return them without evaluation.
    var shownState: ShownState { ShownState(epoch: epoch, from: rowEpoch, changes: 0) }

    /// Caches `rows` as the shown rows of a query.
    func show(_ rows: TreeSlice, _ query: ConnectionQuery) {
        query.shown = ShownTree(rows: rows, epoch: epoch, from: rowEpoch, applied: transaction?.entries.count ?? 0)
    }

    /// Source that a query can be answered from directly, or nil. It is nil if shown rows combine several versions: own
    /// writes on top of the delivered version, or properties read at another version than the delivered one. A tree is
    /// needed then.
    var wholeSource: (any RowSource)? {
        guard let transaction else { return delivered }
        return delivered == nil ? transaction : nil
    }

    /// Source whose list elements are those that this connection shows, or nil if a tree is needed.
    func listSource(_ query: ConnectionQuery) -> (any RowSource)? { wholeSource }

    /// Source as of `listSource` that holds for all lists. nil if `listSource` has to be asked for each, or if trees
    /// are needed.
    var anyListSource: (any RowSource)? { wholeSource }

    /// Asks the store's upkeep thread to maintain the sum, minimum and maximum of a column of an observed query.
    func measure(_ query: ConnectionQuery, _ column: Int) {}

    /// Records a property read for `withObservationTracking`.
    func noteRead(_ table: Table, _ id: ObjectID, _ column: Int) {}

    func didBeginWrite() {}

    /// Begins a write that `commitWrite` or `cancelWrite` ends.
    func beginTransaction(timeout: Duration?) throws -> WriteTransaction {
        let thread = cp_thread_number()
        return try core.beginWrite(timeout: timeout) { cp_thread_number() == thread }
    }

    /// Returns the write in progress, if it may be ended here.
    /// - Throws: `notInWrite`, `writeOnOtherThread`; `writeInsideWrite` if its commit is shared with other blocks.
    func ongoingWrite() throws -> WriteTransaction {
        guard let transaction else { throw StoreError.notInWrite }
        guard transaction.mayEndHere else { throw StoreError.writeOnOtherThread }
        return transaction
    }

    /// Cancels the write in progress when nothing can end it any more.
    /// - Parameter event: what ended first, for the log.
    final func abandonWrite(_ event: String) {
        guard let transaction else { return }
        self.transaction = nil
        epoch += 1
        endAdditions(isStored: false)
        core.abandonWrite(transaction, event)
    }

    /// Forgets the objects that a write has added, after its end.
    final func endAdditions(isStored: Bool) { madeAdditions?.end(isStored: isStored) }

    func commit(_ transaction: WriteTransaction, withoutNotifying tokens: [NotificationToken]) throws {
        _ = try core.commit(transaction, withoutNotifying: tokens) { () throws(StoreError) in try transaction.commit() }
    }

    func endWrite(keeping: Bool) {
        guard let transaction else { return }
        self.transaction = nil
        if !keeping { epoch += 1 }
        endAdditions(isStored: keeping)
        core.endWrite(transaction)
    }

    /// Sets a column of a row in the write in progress. An error makes the write fail.
    func set(
        _ table: Table, _ id: ObjectID, _ column: Int, _ transaction: WriteTransaction, _ body: (RowBuffer) -> Void
    ) {
        do throws(StoreError) {
            try transaction.update(table, id, column, body)
            noteOwnChange(table, id, .update)
        } catch {
            transaction.fail(error)
        }
    }

    func noteOwnChange(_ change: LogEntry) { epoch += 1 }
}

// MARK: Versions and rows

extension Connection {
    /// Version that membership and order of results are read at, without this connection's own later writes.
    public var version: UInt64 { delivered?.version ?? transaction.map { $0.version - 1 } ?? 0 }

    /// Returns a row as properties read it: from the transaction inside a write, otherwise from `shown`.
    func currentRow(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let transaction { return transaction.row(table, id) }
        return shown?.row(table, id)
    }

    /// Returns a row for a getter, which cannot throw: the row as properties read it, otherwise the delivered row.
    ///
    /// If the engine cannot read the row, a `store.read` block or a write in progress throws the error when it ends.
    /// Otherwise the process ends with the error.
    func rowForGetter(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let row = currentRow(table, id) ?? deliveredRow(table, id) { return row }
        noteFailedReads()
        return nil
    }

    /// Handles pending read errors outside of a write, where nothing else would report them.
    func noteFailedReads() {
        guard transaction == nil else { return }
        do throws(StoreError) { try checkReads() } catch { noteFailure(error) }
    }

    /// Whether an earlier read of this connection met an error.
    var hasFailedReads: Bool { (try? checkReads()) == nil }

    /// Reports an error where it cannot be thrown, such as in a collection's `count`. A write fails with it. A
    /// `store.read` block ends with it. Elsewhere the process ends with it.
    func failReading(_ error: StoreError) { if let transaction { transaction.fail(error) } else { noteFailure(error) } }

    /// Returns a row including this connection's own commits, as properties read it when no callback runs.
    func newestRow(_ table: Table, _ id: ObjectID) -> RowReader? { newest?.row(table, id) }

    func deliveredRow(_ table: Table, _ id: ObjectID) -> RowReader? { delivered?.row(table, id) }

    /// Whether properties outside of a write are read at the delivered version, without own writes.
    var showsDeliveredVersion: Bool { shown === delivered }

    /// Version that properties are read at. During a write, the version that it will commit.
    var versionRead: UInt64 { transaction?.version ?? shown?.version ?? 0 }

    /// Source that properties are read from.
    var currentSource: (any RowSource)? { transaction ?? shown }

    /// Evaluates a query at the delivered version, or in the transaction if nothing was delivered.
    func evaluate(_ key: TreeKey, _ table: Table) throws(StoreError) -> RankedTree {
        try evaluate(key, table, in: delivered ?? transaction)
    }

    /// Evaluates a query in `source`, which may be newer than the delivered version.
    func evaluate(_ key: TreeKey, _ table: Table, in source: (any RowSource)?) throws(StoreError) -> RankedTree {
        var collector = EntryCollector(key, table)
        if let source, !collector.collectByIndex(key, in: source) {
            source.scan(table) {
                collector.collect($0, $1, $2)
                return true
            }
        }
        try checkReads()
        return collector.makeTree(stamp: version)
    }

    /// Returns this connection's only instance of a query, making it if needed.
    func query(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) -> ConnectionQuery {
        queries.query(plan) { ConnectionQuery(plan, table, showing: showing) }
    }
}

// MARK: Objects

extension Connection {
    /// Returns the object with this primary key, or nil if there is none. O(log n).
    /// - Throws: `unknownModel`; `otherKeyType` for a key of another type than the model's; `noPrimaryKey`; `damaged`
    ///   or `storage` if the file cannot be read.
    public func object<Object: StoredObject, Key: StorableValue>(
        _ type: Object.Type, forPrimaryKey key: Key
    ) throws -> Object? {
        checkPlace()
        let table = try table(of: type)
        guard let expected = table.keyType else { throw StoreError.noPrimaryKey(table: table.schema.name) }
        guard Key._columnType == expected else {
            throw StoreError.otherKeyType(
                table: table.schema.name, type: Key._columnType.swiftName, expected: expected.swiftName)
        }
        guard let id = find(table, key._columnValue) else {
            try checkReads()
            return nil
        }
        return makeObject(table, id)
    }

    private func find(_ table: Table, _ key: ColumnValue) -> ObjectID? {
        if let transaction { return transaction.find(table, primaryKey: key) }
        return shown?.find(table, primaryKey: key)
    }

    func table(of type: StoredObject.Type) throws(StoreError) -> Table {
        if let lastTable, lastTable.model == type { return lastTable.table }
        let table = try core.storage.table(of: type)
        lastTable = (type, table)
        return table
    }

    func makeObject<Object: StoredObject>(_ type: Object.Type, _ id: ObjectID) -> Object {
        makeObject(core.storage.tables[ObjectIdentifier(type)]!, id)
    }

    func makeObject<Object: StoredObject>(_ table: Table, _ id: ObjectID) -> Object {
        let object = Object()
        var seenIn: WriteTransaction.Fate?
        if let transaction, transaction.isNew(table, id) { seenIn = transaction.fate }
        object.bind(self, table, id, seenIn: seenIn)
        return object
    }

    /// The `rowEpoch` to store with a row position found now. nil during a write, where rows may move.
    var foundEpoch: Int? { transaction == nil ? rowEpoch : nil }

    func makeObject<Object: StoredObject>(_ table: Table, _ found: ScannedRow, _ epoch: Int?) -> Object {
        let object: Object = makeObject(table, found.id)
        if let epoch, let shown { object.noteFound(found.row(in: shown), epoch) }
        return object
    }
}
