// A store as seen from one run loop or queue: live objects, live results and their observers, all at one version.
// A connection also stands behind each `store.read` and `store.write` block, for the length of the block.
//
// A connection has no lock: it is used on its scheduler only. What other threads leave for it goes through its mailbox.
import Foundation
import TracedSync

/// A view of the store that belongs to one scheduler. Not Sendable; a call from elsewhere is stopped with a message that
/// names both places.
public final class Connection {
    /// Where a connection reads rows from besides a write transaction.
    private enum Reading {
        /// Live: the version of the last delivery.
        case live(delivered: Snapshot)
        /// For one block.
        case block(Snapshot?)
    }

    /// The store it is a view of.
    public let store: Store
    let core: StoreCore
    private var reading: Reading
    let scheduler: (any Scheduler)?
    let mailbox: Mailbox?

    /// The write in progress.
    var transaction: WriteTransaction?
    /// Whether that is one which others share, and which somebody else commits.
    let sharesTransaction: Bool
    /// Objects with links that are being added in it.
    let additions = Additions()
    var own = OwnWrites()
    /// The table used last: whoever adds or finds many objects does so with many of one class.
    private var lastTable: (model: StoredObject.Type, table: Table)?
    /// Counts what makes shown rows worthless: deliveries, and writes that were cancelled.
    var epoch = 0

    var observers = ConnectionObservers()
    /// Properties that are observed one by one; nil while there are none.
    var observedCells: ObservedCells?
    private(set) lazy var trackingProbe = TrackingProbe()
    var isDelivering = false
    /// A delivery came while there could be none.
    var missedDelivery = false

    /// The version this connection is bound to for good, if it stands behind something frozen.
    private let frozen: FrozenPin?
    /// The block has returned that this connection was for.
    private(set) var isOver = false
    /// The first thing that went wrong in a `store.read` block where it could not be thrown; the block's end throws it.
    private(set) var blockFailure: StoreError?
    /// Whether the connection moves on to newer versions by itself. Off, it stays at its version until `refresh()`;
    /// observers of the whole store are told `.refreshRequired` when there is something newer, and whatever this version
    /// needs stays in the file for as long.
    public var autorefresh = true {
        didSet {
            guard autorefresh != oldValue else { return }
            if autorefresh { mailbox?.repost() } else { observers.attachedQueries.filter(\.isWaiting).forEach(hold) }
        }
    }

    /// A live connection on the current scheduler.
    init(_ store: Store, on scheduler: any Scheduler) throws {
        self.store = store
        core = store.core
        self.scheduler = scheduler
        frozen = nil
        sharesTransaction = false
        let mailbox = Mailbox(scheduler)
        self.mailbox = mailbox
        reading = .live(delivered: try core.storage.openSnapshot())
        let reference = WeakConnection(self)
        scheduler.setDelivery { reference.connection?.deliver() }
        try core.startUpkeep().send(.connect(mailbox))
    }

    /// A connection for the length of one block.
    init(_ store: Store, reading snapshot: Snapshot?) {
        self.store = store
        core = store.core
        scheduler = nil
        mailbox = nil
        frozen = nil
        sharesTransaction = false
        reading = .block(snapshot)
    }

    /// A connection that stands behind something frozen, for one thread at a time.
    init(_ store: Store, frozen pin: FrozenPin) {
        self.store = store
        core = store.core
        scheduler = nil
        mailbox = nil
        frozen = pin
        sharesTransaction = false
        reading = .block(pin.snapshot)
    }

    /// A connection for one block within a transaction that others share, and that somebody else commits.
    init(_ store: Store, in transaction: WriteTransaction) {
        self.store = store
        core = store.core
        scheduler = nil
        mailbox = nil
        frozen = nil
        reading = .block(nil)
        self.transaction = transaction
        sharesTransaction = true
    }

    deinit {
        scheduler?.invalidate()
        guard let mailbox else { return }
        core.runningUpkeep?.disconnect(mailbox, observers.attachedQueries, observers.watchedObjects)
    }

    // MARK: Versions and rows

    /// Whether deliveries come to this connection.
    var isLive: Bool { scheduler != nil }

    /// Whether this connection stands behind something frozen: it reads one version for good, and writes nothing.
    public var isFrozen: Bool { frozen != nil }

    /// The version that membership and order of results stand at, own writes aside.
    public var version: UInt64 { delivered?.version ?? transaction.map { $0.version - 1 } ?? 0 }

    /// The version of the last delivery.
    var delivered: Snapshot? {
        switch reading {
        case .live(let snapshot): snapshot
        case .block(let snapshot): snapshot
        }
    }

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
        stopIfReadFailed()
        return nil
    }

    /// Ends the process if a read has failed that nobody will be told of.
    func stopIfReadFailed() {
        guard isLive || isFrozen, transaction == nil else { return }
        do throws(StoreError) { try checkReads() } catch { preconditionFailure("\(error)") }
    }

    /// Throws what the engine has reported to reads of this connection.
    func checkReads() throws(StoreError) {
        try transaction?.checkReads()
        if isLive { try own.snapshot?.checkReads() }
        try delivered?.checkReads()
    }

    /// A row as this connection has it when no callback runs: with its own commits.
    func newestRow(_ table: Table, _ id: ObjectID) -> RowReader? { (own.snapshot ?? delivered)?.row(table, id) }

    /// What is read outside of a write.
    var shown: Snapshot? { own.isShown ? own.snapshot ?? delivered : delivered }

    /// Whether what is read outside of a write is what was delivered last, without own writes.
    var showsDeliveredVersion: Bool { shown === delivered }

    /// The version that properties are read at; of a write in progress, the one it will have.
    var versionRead: UInt64 { transaction?.version ?? shown?.version ?? 0 }

    /// Reads properties at the newest version from here on, as after a commit of its own; rows wait for a delivery.
    func readNewest(forVersion version: UInt64) throws(StoreError) {
        guard isLive, transaction == nil else { throw .referenceTooNew(version: version, connection: versionRead) }
        own.show(try core.storage.openSnapshot())
    }

    /// A row as it was in the last delivery.
    func deliveredRow(_ table: Table, _ id: ObjectID) -> RowReader? { delivered?.row(table, id) }

    /// Where rows are read as properties read them, and as they were in the last delivery.
    var currentSource: (any RowSource)? { transaction ?? shown }
    var deliveredSource: (any RowSource)? { delivered }

    /// How many of the own changes a fresh evaluation contains already.
    var ownChangesSeenByEvaluation: Int { isLive ? own.shownFrom : own.changes.count }

    /// Evaluates a query where this connection stands.
    func evaluate(_ key: TreeKey, _ table: Table) throws(StoreError) -> RankedTree {
        var collector = EntryCollector(key, table)
        if let delivered {
            if !collector.collectByIndex(key, in: delivered) {
                delivered.scan(table) { collector.collect($0, $1, $2) }
            }
        } else if let transaction, !collector.collectByIndex(key, in: transaction) {
            try transaction.scan(table) { collector.collect($0, $1, transaction) }
        }
        try checkReads()
        return collector.makeTree(stamp: version)
    }

    /// Stops a call from a wrong place.
    @inline(__always)
    func checkScheduler() {
        if let scheduler {
            if !scheduler.isCurrent { scheduler.checkIsCurrent(misuse ?? "") }
        } else if isOver {
            preconditionFailure(misuse ?? "")
        }
    }

    /// What is wrong with using this connection here and now; nil if nothing is.
    var misuse: String? {
        guard let scheduler else {
            guard isOver else { return nil }
            return """
                something of a store.read or store.write block was used after the block: copy what is needed inside the \
                block, or open a connection with store.connect(on:) for objects that stay
                """
        }
        if scheduler.isCurrent { return nil }
        return """
            a connection of \(scheduler.name) was used on \(Place.current.name): objects and results stay where their \
            connection is; open another connection there
            """
    }

    /// Moves on to a version, without what the connection has written itself: that is in it.
    func moveOn(to snapshot: Snapshot) {
        reading = .live(delivered: snapshot)
        own.forget()
        epoch += 1
    }

    /// What cannot be read in a place that cannot throw, as a collection's count: a write fails with this error, and a
    /// `store.read` block ends with it. Elsewhere nobody would hear of it, and an empty collection would be a lie: the
    /// program stops.
    func failReading(_ error: StoreError) {
        if let transaction { return transaction.fail(error) }
        if isLive || isFrozen { preconditionFailure("\(error)") }
        if blockFailure == nil { blockFailure = error }
    }

    /// Ends a connection that was for one block.
    func endBlock() {
        reading = .block(nil)
        transaction = nil
        isOver = true
    }

    // MARK: Reading

    /// The object with this primary key; nil when there is none. O(log n).
    /// - Throws: `unknownModel`; `otherKeyType` for a key of another type than the model's, `noPrimaryKey`; `storage` where
    ///   the file is damaged.
    public func object<Object: StoredObject, Key: StorableValue>(
        _ type: Object.Type, forPrimaryKey key: Key
    ) throws -> Object? {
        checkScheduler()
        let table = try table(of: type)
        guard let column = table.schema.primaryKey else { throw StoreError.noPrimaryKey(table: table.schema.name) }
        let expected = table.schema.columns[column].type
        guard Key._columnType == expected else {
            throw StoreError.otherKeyType(
                table: table.schema.name, type: Key._columnType.swiftName, expected: expected.swiftName)
        }
        let value = key._columnValue
        let id = transaction.map { $0.find(table, primaryKey: value) } ?? shown?.find(table, primaryKey: value)
        if id == nil { try checkReads() }
        return id.map { makeObject(table, $0) }
    }

    /// The table of a model class.
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
        let seenIn = transaction.flatMap { $0.isNew(table, id) ? $0.fate : nil }
        object.binding = RowBinding(connection: self, table: table, row: id, seenIn: seenIn)
        return object
    }

}

/// A connection that code on another thread refers to without using it.
final class WeakConnection: @unchecked Sendable {
    private(set) weak var connection: Connection?

    init(_ connection: Connection) { self.connection = connection }
}
