// A store as seen from one place: what every connection is, whatever it is there for. A `LiveConnection` belongs to a run
// loop or queue, where its objects, results and observers are all at one version; a `BlockConnection` stands behind a
// `store.read` or `store.write` block, for its length; a `FrozenConnection` behind what is frozen.
//
// A connection has no lock: it is used in its own place only. What other threads leave for it goes through its mailbox.
import CStillingWellPlatform
import StillingWellBasis

/// A view of the store that belongs to one scheduler. Not Sendable; a call from elsewhere is stopped with a message that
/// names both places.
public class Connection {
    /// The store it is a view of.
    public final let store: Store
    final let core: StoreCore
    /// What membership and order of results stand at: of a live connection, the version of the last delivery. nil where
    /// everything is read from a transaction.
    final var delivered: Snapshot?
    /// What properties are read from outside of a write; own commits of a live connection are in it.
    final private(set) var shown: Snapshot?

    final var transaction: WriteTransaction? { didSet { rowEpoch += 1 } }
    /// Counts what makes rows worthless that objects have found: another version to read, and the beginning and the end of a
    /// write. Within a write nothing is kept of a row.
    private(set) final var rowEpoch = 0
    /// Objects with links that are being added in it; nil until there are any, which most blocks have none of.
    private final var madeAdditions: Additions?
    final var additions: Additions {
        if let madeAdditions { return madeAdditions }
        let additions = Additions()
        madeAdditions = additions
        return additions
    }
    /// The table used last: whoever adds or finds many objects does so with many of one class.
    private final var lastTable: (model: StoredObject.Type, table: Table)?
    final var queries = KnownQueries()
    /// Counts what makes shown rows worthless: deliveries, and writes that were cancelled.
    final var epoch = 0

    /// Whether the connection moves on to newer versions by itself. Off, it stays at its version until `refresh()`;
    /// observers of the whole store are told `.refreshRequired` when there is something newer, and whatever this version
    /// needs stays in the file for as long.
    public var autorefresh = true

    /// `checkScheduler` stops nothing on this thread, as `cp_thread_number` has it; 0 where it has to be asked.
    final var thread = Connection.anyThread
    static let anyThread = UInt64.max

    init(_ store: Store, at snapshot: Snapshot?) {
        self.store = store
        core = store.core
        delivered = snapshot
        shown = snapshot
    }

    /// Reads properties from another version on; before and after each callback it is mostly the same one.
    @inline(__always)
    final func read(from snapshot: Snapshot?) {
        if shown === snapshot { return }
        shown = snapshot
        rowEpoch += 1
    }

    // MARK: What kinds of connections differ in

    /// Whether this connection stands behind something frozen: it reads one version for good, and writes nothing.
    public var isFrozen: Bool { false }

    /// Whether the block has returned that this connection was for.
    var isOver: Bool { false }

    /// What is wrong with using this connection here and now; nil if nothing is.
    var misuse: String? { nil }

    /// Stops a call from a wrong place.
    func checkScheduler() {}

    /// As `checkScheduler`, where that is asked at each read of a property.
    @inline(__always)
    final func checkPlace() {
        if thread != Self.anyThread, thread != cp_thread_number() { checkScheduler() }
    }

    /// The newest that this connection has, its own commits among it, whatever is shown to a callback.
    var newest: Snapshot? { delivered }

    /// Reads properties at the newest version from here on, as after a commit of its own; rows wait for a delivery.
    func readNewest(forVersion version: UInt64) throws(StoreError) {
        throw .referenceTooNew(version: version, connection: versionRead)
    }

    /// Throws what the engine has reported to reads of this connection.
    func checkReads() throws(StoreError) {
        try transaction?.checkReads()
        try delivered?.checkReads()
    }

    /// Takes what went wrong where it cannot be thrown, outside of a write. Nobody would ever hear of it, and an empty
    /// collection would be a lie: the process ends with the error.
    func noteFailure(_ error: StoreError) { stopProgram("\(error)") }

    /// The rows of a query as this connection shows them now.
    func rows(_ query: ConnectionQuery) throws(StoreError) -> TreeSlice {
        if let shown = query.shown, shown.epoch == epoch { return shown.rows }
        if let fault = query.plan.fault { throw fault }
        let rows = try evaluate(query.plan.tree, query.table).slice(query.window)
        show(rows, query)
        return rows
    }

    /// How rows have to stand that `rows` returns without evaluating them.
    var shownState: ShownState { ShownState(epoch: epoch, from: rowEpoch, changes: 0) }

    /// Takes rows for those of a query as the connection stands now.
    func show(_ rows: TreeSlice, _ query: ConnectionQuery) {
        query.shown = ShownTree(rows: rows, epoch: epoch, from: rowEpoch, applied: transaction?.entries.count ?? 0)
    }

    /// Where rows may be asked what a query shows, because it shows what stands there and nothing else; nil where it takes
    /// a tree: own writes are shown on what was delivered, and properties read another version than the delivered one.
    var wholeSource: (any RowSource)? {
        guard let transaction else { return delivered }
        return delivered == nil ? transaction : nil
    }

    /// Where the elements of a list that this connection shows are those there are; nil where it takes a tree.
    func listSource(_ query: ConnectionQuery) -> (any RowSource)? { wholeSource }

    /// The same for any list, where nothing is observed; nil where the list has to be asked.
    var anyListSource: (any RowSource)? { wholeSource }

    /// Has upkeep keep the sums and extremes of a column, for a query that is observed here.
    func measure(_ query: ConnectionQuery, _ column: Int) {}

    /// Notes that a column was read, if something tracks what is read. For models that are `Observable`.
    func noteRead(_ table: Table, _ id: ObjectID, _ column: Int) {}

    func didBeginWrite() {}

    /// Begins a write that `commitWrite` or `cancelWrite` is to end.
    func beginTransaction(timeout: Double?) throws -> WriteTransaction {
        let thread = cp_thread_number()
        return try core.beginWrite(timeout: timeout) { cp_thread_number() == thread }
    }

    /// The write in progress, to be ended here.
    func ongoingWrite() throws -> WriteTransaction {
        guard let transaction else { throw StoreError.notInWrite }
        guard transaction.mayEndHere else { throw StoreError.writeOnOtherThread }
        return transaction
    }

    /// Cancels the write in progress because nobody will end it.
    /// - Parameter event: what ended before the write did, for the log.
    final func abandonWrite(_ event: String) {
        guard let transaction else { return }
        self.transaction = nil
        epoch += 1
        madeAdditions?.end(isStored: false)
        core.abandonWrite(transaction, event)
    }

    func commit(_ transaction: WriteTransaction, withoutNotifying tokens: [NotificationToken]) throws {
        _ = try core.commit(transaction, withoutNotifying: tokens) { () throws(StoreError) in try transaction.commit() }
    }

    func endWrite(keeping: Bool) {
        guard let transaction else { return }
        self.transaction = nil
        if !keeping { epoch += 1 }
        madeAdditions?.end(isStored: keeping)
        core.endWrite(transaction)
    }

    /// Sets a column of a row in the write in progress; what goes wrong makes the write fail.
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
    /// The version that membership and order of results stand at, own writes aside.
    public var version: UInt64 { delivered?.version ?? transaction.map { $0.version - 1 } ?? 0 }

    /// A row as properties read it: the transaction inside a write, then the last own commit, then the last delivery.
    func currentRow(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let transaction { return transaction.row(table, id) }
        return shown?.row(table, id)
    }

    /// A row for a getter, which cannot throw: as properties read it, or else as it was delivered last.
    ///
    /// Where the engine cannot read it, a `store.read` or `store.write` block throws that when it ends, and so does a write
    /// in progress. Elsewhere nobody would ever hear of it: the process ends with the error.
    func rowForGetter(_ table: Table, _ id: ObjectID) -> RowReader? {
        if let row = currentRow(table, id) ?? deliveredRow(table, id) { return row }
        noteFailedReads()
        return nil
    }

    /// Takes what the engine has reported to reads that nobody will be told of otherwise.
    func noteFailedReads() {
        guard transaction == nil else { return }
        do throws(StoreError) { try checkReads() } catch { noteFailure(error) }
    }

    /// Whether the engine has reported something to reads of this connection.
    var hasFailedReads: Bool { (try? checkReads()) == nil }

    /// What cannot be read in a place that cannot throw, as a collection's count: a write fails with this error, and a
    /// `store.read` block ends with it.
    func failReading(_ error: StoreError) { if let transaction { transaction.fail(error) } else { noteFailure(error) } }

    /// A row as this connection has it when no callback runs: with its own commits.
    func newestRow(_ table: Table, _ id: ObjectID) -> RowReader? { newest?.row(table, id) }

    func deliveredRow(_ table: Table, _ id: ObjectID) -> RowReader? { delivered?.row(table, id) }

    /// Whether what is read outside of a write is what was delivered last, without own writes.
    var showsDeliveredVersion: Bool { shown === delivered }

    /// The version that properties are read at; of a write in progress, the one it will have.
    var versionRead: UInt64 { transaction?.version ?? shown?.version ?? 0 }

    /// Where rows are read as properties read them.
    var currentSource: (any RowSource)? { transaction ?? shown }

    /// Evaluates a query where this connection stands.
    func evaluate(_ key: TreeKey, _ table: Table) throws(StoreError) -> RankedTree {
        try evaluate(key, table, in: delivered ?? transaction)
    }

    /// Evaluates a query in a version of its own, as that of the write in progress, which may be newer than what is shown.
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

    /// The one instance of a query on this connection.
    func query(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) -> ConnectionQuery {
        queries.query(plan) { ConnectionQuery(plan, table, showing: showing) }
    }
}

// MARK: Objects

extension Connection {
    /// The object with this primary key; nil when there is none. O(log n).
    /// - Throws: `unknownModel`; `otherKeyType` for a key of another type than the model's, `noPrimaryKey`; `storage` where
    ///   the file is damaged.
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

    /// The object with a primary key as properties read it.
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

    /// An object of a class that is known to be a model.
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

    /// The `rowEpoch` for which rows hold that are found now; nil amid a write, where they may move.
    var foundEpoch: Int? { transaction == nil ? rowEpoch : nil }

    /// An object of a row that a scan has found.
    func makeObject<Object: StoredObject>(_ table: Table, _ found: ScannedRow, _ epoch: Int?) -> Object {
        let object: Object = makeObject(table, found.id)
        if let epoch, let shown { object.noteFound(found.row(in: shown), epoch) }
        return object
    }
}
