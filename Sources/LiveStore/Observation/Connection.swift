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

    public let store: Store
    let core: StoreCore
    private var reading: Reading
    let scheduler: (any Scheduler)?
    let mailbox: Mailbox?

    private(set) var transaction: WriteTransaction?
    /// The version of the connection's last own commit, when that is newer than the last delivery.
    private var own: Snapshot?
    /// False while a callback has not written: it sees one version, the delivered one.
    private var showsOwn = true
    /// Rows this connection has written since the last delivery, the transaction in progress included.
    private(set) var ownChanges: [LogEntry] = []
    /// Where those of them begin that results show: a callback starts without what earlier ones have written.
    private(set) var ownChangesShownFrom = 0
    /// The version this connection is bound to for good, if it stands behind something frozen.
    private let frozen: FrozenPin?
    /// Counts what makes shown rows worthless: deliveries, and writes that were cancelled.
    private(set) var epoch = 0
    /// Some query has used `ownChanges` up to its end, so that a further change of the last row must be listed anew.
    private var lastOwnChangeIsUsed = false

    /// Queries that results or observers hold, and those that upkeep keeps.
    private var queries: [QueryPlan: WeakQuery] = [:]
    private var attached: [ObjectIdentifier: ConnectionQuery] = [:]
    private var queriesToPrune = 64
    private var isDelivering = false
    /// The block has returned that this connection was for.
    private(set) var isOver = false
    private var missedDelivery = false

    /// A live connection on the current scheduler.
    init(_ store: Store, on scheduler: any Scheduler) throws {
        self.store = store
        core = store.core
        self.scheduler = scheduler
        frozen = nil
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
        reading = .block(snapshot)
    }

    /// A connection that stands behind something frozen, for one thread at a time.
    init(_ store: Store, frozen pin: FrozenPin) {
        self.store = store
        core = store.core
        scheduler = nil
        mailbox = nil
        frozen = pin
        reading = .block(pin.snapshot)
    }

    deinit {
        scheduler?.invalidate()
        guard let mailbox else { return }
        core.runningUpkeep?.disconnect(mailbox, Array(attached.values))
    }

    // MARK: Versions and rows

    /// Whether deliveries come to this connection.
    var isLive: Bool { scheduler != nil }

    /// Whether this connection stands behind something frozen: it reads one version for good, and writes nothing.
    public var isFrozen: Bool { frozen != nil }

    /// The version that membership and order of results stand at, own writes aside.
    public var version: UInt64 { delivered?.version ?? transaction.map { $0.version - 1 } ?? 0 }

    private var delivered: Snapshot? {
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

    /// What is read outside of a write.
    var shown: Snapshot? { showsOwn ? own ?? delivered : delivered }

    /// Whether what is read outside of a write is what was delivered last, without own writes.
    var showsDeliveredVersion: Bool { shown === delivered }

    /// The version that properties are read at; of a write in progress, the one it will have.
    var versionRead: UInt64 { transaction?.version ?? shown?.version ?? 0 }

    /// Reads properties at the newest version from here on, as after a commit of its own; rows wait for a delivery.
    func readNewest(forVersion version: UInt64) throws(StoreError) {
        guard isLive, transaction == nil else { throw .referenceTooNew(version: version, connection: versionRead) }
        own = try core.storage.openSnapshot()
        showsOwn = true
        ownChangesShownFrom = 0
    }

    /// A row as it was in the last delivery.
    func deliveredRow(_ table: Table, _ id: ObjectID) -> RowReader? { delivered?.row(table, id) }

    /// How many of `ownChanges` a fresh evaluation contains already.
    var ownChangesSeenByEvaluation: Int { isLive ? ownChangesShownFrom : ownChanges.count }

    /// Evaluates a query where this connection stands.
    func evaluate(_ key: TreeKey, _ table: Table) throws(StoreError) -> RankedTree {
        var collector = EntryCollector(key, table)
        if let delivered {
            delivered.scan(table) { collector.collect($0, $1) }
        } else if let transaction {
            try transaction.scan(table) { collector.collect($0, $1) }
        }
        return collector.makeTree(stamp: version)
    }

    /// Stops a call from a wrong place.
    @inline(__always)
    func checkScheduler() {
        if let scheduler { if scheduler.isCurrent { return } } else if !isOver { return }
        preconditionFailure(misuse ?? "")
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
        let caller = Thread.current.name.flatMap { $0.isEmpty ? nil : "thread '\($0)'" } ?? "another thread"
        return """
            a connection of \(scheduler.name) was used on \(caller): objects and results stay where their connection is; \
            open another connection there
            """
    }

    /// Ends a connection that was for one block.
    func endBlock() {
        reading = .block(nil)
        isOver = true
    }

    // MARK: Reading

    /// All objects of a class.
    public func objects<Object: StoredObject>(_ type: Object.Type) throws -> Results<Object> {
        checkScheduler()
        return Results(self, try core.storage.table(of: type), .all, [])
    }

    /// The object with this primary key; nil when there is none. O(log n).
    public func object<Object: StoredObject>(
        _ type: Object.Type, forPrimaryKey key: some StorableValue
    ) throws -> Object? {
        checkScheduler()
        let table = try core.storage.table(of: type)
        let id = PrimaryKey.withBytes(of: key._columnValue) { bytes -> ObjectID? in
            if let transaction { return transaction.find(table, primaryKey: bytes) }
            return shown?.find(table, primaryKey: bytes)
        }
        return id.map { makeObject(table, $0) }
    }

    func makeObject<Object: StoredObject>(_ table: Table, _ id: ObjectID) -> Object {
        let object = Object()
        let seenIn = transaction.flatMap { $0.isNew(table, id) ? $0.fate : nil }
        object.binding = RowBinding(connection: self, table: table, row: id, seenIn: seenIn)
        return object
    }

    // MARK: Writing

    /// Whether a write block runs on this connection.
    public var isInWrite: Bool { transaction != nil }

    /// Runs `body` holding the store's write lock, and commits what it changed; if it throws, nothing is changed.
    ///
    /// Waits for other writers, in fair turns, and for nothing else; callbacks never run inside it. The changes reach
    /// this connection's observers in a later delivery.
    /// - Parameter timeout: seconds to wait for the lock; nil waits as long as it takes.
    /// - Throws: what `body` throws; `writeInsideWrite`, `writeTimedOut`, `diskFull`, `invalidatedObject`.
    @discardableResult
    public func write<Result>(timeout: Double? = nil, _ body: () throws -> Result) throws -> Result {
        checkScheduler()
        if isFrozen { throw StoreError.frozen }
        guard transaction == nil else { throw StoreError.writeInsideWrite }
        return try core.withWriteLock(timeout: timeout) { transaction in
            self.transaction = transaction
            let ownCount = ownChanges.count
            defer {
                self.transaction = nil
                repostMissedDelivery()
            }
            do {
                // At the limit of snapshots there is none, and a commit must be possible all the same.
                let reader = isLive ? try? core.storage.takeReader() : nil
                let result: Result
                do {
                    result = try body()
                    _ = try transaction.commit()
                } catch {
                    reader.map(core.storage.recycle)
                    throw error
                }
                if isLive { showOwnCommit(reader, changesFrom: ownCount) }
                return result
            } catch {
                transaction.cancel()
                ownChanges.removeSubrange(ownCount...)
                epoch += 1
                throw error
            }
        }
    }

    /// Reads properties at the version just committed: nobody else can have committed yet. Where it cannot be read the
    /// commit stands all the same, and own writes show with the next delivery.
    private func showOwnCommit(_ reader: SnapshotReader?, changesFrom ownCount: Int) {
        if let reader, let snapshot = try? core.storage.openSnapshot(with: reader) {
            own = snapshot
            showsOwn = true
            ownChangesShownFrom = 0
        } else {
            reader.map(core.storage.recycle)
            ownChanges.removeSubrange(ownCount...)
            epoch += 1
        }
    }

    /// Stores a new object, which stands for its row from here on. Inside a write block.
    /// - Throws: `duplicatePrimaryKey`, `notInWrite`, `diskFull`.
    public func add(_ object: StoredObject) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        if object.isFrozen { throw StoreError.frozen }
        if object.binding != nil { return }
        let table = try core.storage.table(of: type(of: object))
        let id = try transaction.insert(table) { table.layout.encode(object, into: $0) }
        object.binding = RowBinding(connection: self, table: table, row: id, addedIn: transaction.fate)
        noteOwnChange(table, id, .insert)
    }

    /// Deletes an object's row. One that is gone already is left alone. Inside a write block.
    public func delete(_ object: StoredObject) throws {
        checkScheduler()
        guard let transaction else { throw StoreError.notInWrite }
        guard let binding = object.binding else { return }
        if object.isFrozen { throw StoreError.frozen }
        try transaction.delete(binding.table, binding.id)
        noteOwnChange(binding.table, binding.id, .delete)
    }

    /// Sets a column through `body`. What goes wrong makes the whole write fail, because a setter cannot throw.
    func update(_ table: Table, _ id: ObjectID, _ column: Int, _ body: (RowBuffer) -> Void) {
        checkScheduler()
        guard let transaction else { preconditionFailure("\(isFrozen ? StoreError.frozen : .notInWrite)") }
        if column == table.schema.primaryKey {
            let name = "\(table.schema.name).\(table.schema.columns[column].name)"
            preconditionFailure("\(name) is the primary key of a stored object: add a new object instead")
        }
        do throws(StoreError) {
            try transaction.update(table, id, column, body)
            noteOwnChange(table, id, .update)
        } catch {
            transaction.fail(error)
        }
    }

    private func noteOwnChange(_ table: Table, _ id: ObjectID, _ operation: LogEntry.Operation) {
        let change = LogEntry(table: table.id, operation, id: id.rawValue)
        if isLive {
            let isShown = ownChanges.count > ownChangesShownFrom
            if isShown, !lastOwnChangeIsUsed, ownChanges.last == change { return }
            ownChanges.append(change)
            lastOwnChangeIsUsed = false
        } else {
            epoch += 1
        }
    }

    func noteOwnChangesUsed() { lastOwnChangeIsUsed = true }

    // MARK: Observing

    /// The one instance of a query on this connection.
    func query(_ plan: QueryPlan, _ table: Table) -> ConnectionQuery {
        if let known = queries[plan]?.query { return known }
        let query = ConnectionQuery(plan, table)
        queries[plan] = WeakQuery(query: query)
        if queries.count > queriesToPrune {
            queries = queries.filter { $0.value.query != nil }
            queriesToPrune = 2 * queries.count + 64
        }
        return query
    }

    /// Adds an observer. Its initial callback comes as a delivery of its own, never from here.
    func observe(
        _ query: ConnectionQuery, madeAt place: String, _ body: @escaping (DeliveredChange) -> Void
    ) throws -> NotificationToken {
        checkScheduler()
        guard let mailbox else { throw StoreError.noScheduler }
        let upkeep = try core.startUpkeep()
        let state = TokenState(body)
        query.add(state)
        if query.attach() {
            attached[ObjectIdentifier(query)] = query
            upkeep.send(.attach(mailbox, query, attachment: query.attachment))
        } else if query.delivered != nil {
            mailbox.requestInitial(of: query)
        }
        let reference = HeldConnection(self)
        return NotificationToken(state, madeAt: place) { [weak query] in
            if let query { reference.sweep(query) }
        }
    }

    /// Lets go of invalidated observers. Any thread. On the scheduler it is done at once where that is possible, because
    /// a run loop that ends never turns again.
    fileprivate func requestSweep(_ query: ConnectionQuery) {
        if scheduler?.isCurrent == true, !isDelivering, transaction == nil {
            sweep(query)
        } else {
            mailbox?.requestSweep(of: query)
        }
    }

    private func sweep(_ query: ConnectionQuery) {
        guard query.sweep() else { return }
        attached[ObjectIdentifier(query)] = nil
        core.detach(query)
    }

    // MARK: Delivering

    /// Takes what upkeep has left, moves on to its version, and tells observers. On the scheduler.
    func deliver() {
        guard let mailbox else { return }
        guard transaction == nil, !isDelivering else {
            missedDelivery = true
            return
        }
        isDelivering = true
        // Upkeep may stand at an older version than the one a connection was opened at.
        let mail = mailbox.take(minimum: own?.version ?? version)
        if let snapshot = mail.snapshot, core.isOpen { accept(snapshot, mail.updates) }
        for failure in mail.failures {
            failure.query.fail(failure, { attached[ObjectIdentifier(failure.query)] = nil }, call)
        }
        for query in mail.initials { query.tell(ahead: nil, call) }
        for query in mail.sweeps { sweep(query) }
        isDelivering = false
        repostMissedDelivery()
    }

    private func repostMissedDelivery() {
        guard missedDelivery, !isDelivering, transaction == nil else { return }
        missedDelivery = false
        mailbox?.repost()
    }

    private func accept(_ snapshot: Snapshot, _ updates: [RootUpdate]) {
        reading = .live(delivered: snapshot)
        own = nil
        ownChanges.removeAll(keepingCapacity: true)
        lastOwnChangeIsUsed = false
        epoch += 1
        for update in updates { update.query.accept(update) }
        for update in updates { update.query.tell(ahead: update.ahead, call) }
    }

    /// Runs one callback at the delivered version, whatever earlier callbacks of this delivery have written.
    private func call(_ token: TokenState, _ change: DeliveredChange) {
        guard core.isOpen, token.begin() else { return }
        showsOwn = false
        ownChangesShownFrom = ownChanges.count
        token.deliver?(change)
        showsOwn = true
        ownChangesShownFrom = 0
        token.end()
    }
}

/// A connection that code on another thread refers to without using it.
final class WeakConnection: @unchecked Sendable {
    private(set) weak var connection: Connection?

    init(_ connection: Connection) { self.connection = connection }
}

/// A connection that a token keeps alive, on whatever thread the token is, and asks to let go of its observer.
private final class HeldConnection: @unchecked Sendable {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func sweep(_ query: ConnectionQuery) { connection.requestSweep(query) }
}

private struct WeakQuery {
    weak var query: ConnectionQuery?
}
