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
    private var objectTokens: [ObjectIdentifier: ObjectToken] = [:]
    private var storeTokens: [StoreToken] = []
    /// Properties that are observed one by one; nil while there are none.
    var observedCells: ObservedCells?
    private(set) lazy var trackingProbe = TrackingProbe()
    private var queriesToPrune = 64
    private var isDelivering = false
    /// The block has returned that this connection was for.
    private(set) var isOver = false
    private var missedDelivery = false
    /// Objects with links that are being added in the current write.
    let additions = Additions()
    private var ownChangesAtBegin = 0
    /// The one used last: whoever adds or finds many objects does so with many of one class.
    private var lastTable: (model: StoredObject.Type, table: Table)?
    private var sharesTransaction = false
    /// Whether the connection moves on to newer versions by itself. Off, it stays at its version until `refresh()`;
    /// observers of the whole store are told `.refreshRequired` when there is something newer, and whatever this version
    /// needs stays in the file for as long.
    public var autorefresh = true {
        didSet { if autorefresh, !oldValue { mailbox?.repost() } }
    }

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
        core.runningUpkeep?.disconnect(mailbox, Array(attached.values), Array(objectTokens.values))
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

    /// A row as this connection has it when no callback runs: with its own commits.
    func newestRow(_ table: Table, _ id: ObjectID) -> RowReader? { (own ?? delivered)?.row(table, id) }

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

    /// Where rows are read as properties read them, and as they were in the last delivery.
    var currentSource: (any RowSource)? { transaction ?? shown }
    var deliveredSource: (any RowSource)? { delivered }

    /// How many of `ownChanges` a fresh evaluation contains already.
    var ownChangesSeenByEvaluation: Int { isLive ? ownChangesShownFrom : ownChanges.count }

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

    /// Ends a connection that was for one block.
    func endBlock() {
        reading = .block(nil)
        transaction = nil
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
        let table = try table(of: type)
        let id = PrimaryKey.withBytes(of: key._columnValue) { bytes -> ObjectID? in
            if let transaction { return transaction.find(table, primaryKey: bytes) }
            return shown?.find(table, primaryKey: bytes)
        }
        return id.map { makeObject(table, $0) }
    }

    /// The table of a model class.
    private func table(of type: StoredObject.Type) throws(StoreError) -> Table {
        if let lastTable, lastTable.model == type { return lastTable.table }
        let table = try core.storage.table(of: type)
        lastTable = (type, table)
        return table
    }

    /// Makes the write in progress fail, from a place that cannot throw.
    func failWrite(_ error: any Error) {
        guard let transaction else { preconditionFailure("\(StoreError.notInWrite)") }
        let other = StoreError.storage(operation: "write", code: 0, reason: "\(error)")
        transaction.fail(error as? StoreError ?? other)
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

    // MARK: Writing

    /// Whether a write block runs on this connection.
    public var isInWrite: Bool { transaction != nil }

    /// Runs `body` holding the store's write lock, and commits what it changed; if it throws, nothing is changed.
    ///
    /// Waits for other writers, in fair turns, and for nothing else; callbacks never run inside it. The changes reach
    /// this connection's observers in a later delivery.
    /// - Parameters:
    ///   - timeout: seconds to wait for the lock; nil waits as long as it takes.
    ///   - tokens: those of this store, of any connection, that are not to hear of this commit. What somebody
    ///     else has changed in the same rows, and they have not heard of yet, they are told all the same.
    /// - Throws: what `body` throws; `writeInsideWrite`, `writeTimedOut`, `diskFull`, `invalidatedObject`, `foreignToken`.
    @discardableResult
    public func write<Result>(
        timeout: Double? = nil, withoutNotifying tokens: [NotificationToken] = [], _ body: () throws -> Result
    ) throws -> Result {
        try beginWrite(timeout: timeout)
        let result: Result
        do {
            result = try body()
        } catch {
            if transaction != nil { endWrite(keeping: false) }
            throw error
        }
        // The block may have ended the write itself.
        if transaction != nil { try commitWrite(withoutNotifying: tokens) }
        return result
    }

    /// Takes the store's write lock; `commitWrite` or `cancelWrite` gives it back, on the same thread. `write` does both.
    /// - Throws: `writeInsideWrite`, `writeTimedOut`, `diskFull`, `closed`.
    public func beginWrite(timeout: Double? = nil) throws {
        checkScheduler()
        if isFrozen { throw StoreError.frozen }
        guard transaction == nil else { throw StoreError.writeInsideWrite }
        transaction = try core.beginWrite(timeout: timeout)
        ownChangesAtBegin = ownChanges.count
    }

    /// Commits what was changed since `beginWrite`. If it throws, nothing was changed, and the write is over too.
    /// - Parameter tokens: those of this store that are not to hear of this commit.
    /// - Throws: `notInWrite`, `diskFull`, `foreignToken`, `invalidatedObject`, `writeOnOtherThread`.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        checkScheduler()
        let transaction = try ongoingWrite()
        do {
            // At the limit of snapshots there is none, and a commit must be possible all the same.
            let reader = isLive ? try? core.storage.takeReader() : nil
            do {
                try core.commit(transaction, withoutNotifying: tokens)
            } catch {
                reader.map(core.storage.recycle)
                throw error
            }
            if isLive { showOwnCommit(reader) }
        } catch {
            endWrite(keeping: false)
            throw error
        }
        endWrite(keeping: true)
    }

    /// Forgets what was changed since `beginWrite`.
    /// - Throws: `notInWrite`, `writeOnOtherThread`.
    public func cancelWrite() throws {
        checkScheduler()
        _ = try ongoingWrite()
        endWrite(keeping: false)
    }

    /// The lock belongs to the thread that took it; a queue may run its next block on another one.
    private func ongoingWrite() throws -> WriteTransaction {
        guard let transaction else { throw StoreError.notInWrite }
        if sharesTransaction { throw StoreError.writeInsideWrite }
        guard transaction.isOnItsThread else { throw StoreError.writeOnOtherThread }
        return transaction
    }

    private func endWrite(keeping: Bool) {
        guard let transaction else { return }
        self.transaction = nil
        if !keeping {
            ownChanges.removeSubrange(ownChangesAtBegin...)
            epoch += 1
        }
        additions.end(isStored: keeping)
        core.endWrite(transaction)
        if !keeping { observedCells?.didCancel(self) }
        repostMissedDelivery()
    }

    /// Reads properties at the version just committed: nobody else can have committed yet. Where it cannot be read the
    /// commit stands all the same, and own writes show with the next delivery.
    private func showOwnCommit(_ reader: SnapshotReader?) {
        if let reader, let snapshot = try? core.storage.openSnapshot(with: reader) {
            own = snapshot
            showsOwn = true
            ownChangesShownFrom = 0
        } else {
            reader.map(core.storage.recycle)
            ownChanges.removeSubrange(ownChangesAtBegin...)
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
        let table = try table(of: type(of: object))
        if !table.layout.connected.isEmpty { return try additions.add(object, table, transaction, self) }
        try insert(object, table, transaction)
    }

    /// Stores the row of a new object.
    func insert(_ object: StoredObject, _ table: Table, _ transaction: WriteTransaction) throws(StoreError) {
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
        // Even if somebody else has deleted it first: the rows shown here change with it.
        try noting { () throws(StoreError) in try transaction.delete(binding.table, binding.id) }
        noteOwnChange(binding.table, binding.id, .delete)
    }

    /// Notes as own all changes that `body` makes in the transaction.
    func noting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard let transaction else { throw .notInWrite }
        let start = transaction.entries.count
        defer {
            for entry in transaction.entries[start...] { noteOwnChange(entry) }
        }
        try body()
    }

    /// Sets a column through `body`. What goes wrong makes the whole write fail, because a setter cannot throw.
    func update(_ table: Table, _ id: ObjectID, _ column: Int, _ body: (RowBuffer) -> Void) {
        checkScheduler()
        guard let transaction else { preconditionFailure("\(isFrozen ? StoreError.frozen : .notInWrite)") }
        if column == table.schema.primaryKey {
            let name = "\(table.schema.name).\(table.schema.columns[column].name)"
            preconditionFailure("\(name) is the primary key of a stored object: add a new object instead")
        }
        observedCells?.willSet(table, id, column, self)
        do throws(StoreError) {
            try transaction.update(table, id, column, body)
            noteOwnChange(table, id, .update)
        } catch {
            transaction.fail(error)
        }
        observedCells?.didSet(table, id, column, self)
    }

    func noteOwnChange(_ table: Table, _ id: ObjectID, _ operation: LogEntry.Operation) {
        noteOwnChange(LogEntry(table: table.id, operation, id: id.rawValue))
    }

    private func noteOwnChange(_ change: LogEntry) {
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
    func query(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) -> ConnectionQuery {
        if let known = queries[plan]?.query { return known }
        let query = ConnectionQuery(plan, table, showing: showing)
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
        let (mailbox, upkeep) = try observing()
        let state = CollectionToken(query, body)
        query.add(state)
        if query.attach() {
            attached[ObjectIdentifier(query)] = query
            upkeep.send(.attach(mailbox, query, attachment: query.attachment))
        } else if query.delivered != nil {
            mailbox.requestInitial(of: query)
        }
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: place) { [weak query] in
            if let query { reference.sweep(.query(query)) }
        }
    }

    /// Adds an observer of one object.
    func observe(
        _ binding: RowBinding, columns: UInt64, madeAt place: String,
        _ body: @escaping (DeliveredObjectChange) -> Void
    ) throws -> NotificationToken {
        let (mailbox, upkeep) = try observing()
        guard transaction == nil else { throw StoreError.observedInWrite }
        guard let row = shown?.row(binding.table, binding.id) else {
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        // What the first change is told from. Not read at the delivery that brings it: until upkeep hears of the observer,
        // deliveries may pass the change by.
        let known = deliveredRow(binding.table, binding.id) ?? row
        let state = ObjectToken(
            binding.table, binding.id, columns: columns, since: shown?.version ?? 0,
            known: known, body)
        objectTokens[ObjectIdentifier(state)] = state
        upkeep.send(.watch(mailbox, state, seen: Array(row.image)))
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: place) { [weak state] in
            if let state { reference.sweep(.object(state)) }
        }
    }

    /// Calls `body` on this connection's scheduler whenever the connection has moved on to a newer version, before the
    /// observers of collections and objects; and with `.refreshRequired` where `autorefresh` is off and there is one.
    ///
    /// There is no initial call. Several commits may come as one.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (StoreNotification, Connection) -> Void
    ) throws -> NotificationToken {
        let (mailbox, upkeep) = try observing()
        let state = StoreToken { [unowned self] in body($0, self) }
        if storeTokens.isEmpty { upkeep.send(.observeStore(mailbox, true)) }
        storeTokens.append(state)
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: "\(file):\(line)") { reference.sweep(.store) }
    }

    /// What every observer needs.
    private func observing() throws -> (Mailbox, Upkeep) {
        checkScheduler()
        guard let mailbox else { throw StoreError.noScheduler }
        return (mailbox, try core.startUpkeep())
    }

    /// Lets go of invalidated observers. Any thread. On the scheduler it is done at once where that is possible, because
    /// a run loop that ends never turns again.
    fileprivate func requestSweep(_ subject: ObservedSubject) {
        if scheduler?.isCurrent == true, !isDelivering, transaction == nil {
            sweep(subject)
        } else {
            mailbox?.requestSweep(of: subject)
        }
    }

    private func sweep(_ subject: ObservedSubject) {
        switch subject {
        case .query(let query):
            guard query.sweep() else { return }
            attached[ObjectIdentifier(query)] = nil
            core.detach(query)
        case .object(let token):
            guard objectTokens.removeValue(forKey: ObjectIdentifier(token)) != nil else { return }
            token.releaseCallback()
            observedCells?.remove(token)
            core.runningUpkeep?.send(.unwatch(token))
        case .store:
            let gone = storeTokens.filter { !$0.isActive }
            storeTokens.removeAll { !$0.isActive }
            for token in gone { token.releaseCallback() }
            guard storeTokens.isEmpty, !gone.isEmpty, let mailbox else { return }
            core.runningUpkeep?.send(.observeStore(mailbox, false))
        case .turn(let turn): asCallback(turn.body)
        }
    }

    // MARK: Delivering

    /// Takes what upkeep has left, moves on to its version, and tells observers. On the scheduler.
    func deliver() {
        guard let mailbox else { return }
        guard transaction == nil, !isDelivering else {
            missedDelivery = true
            return
        }
        if autorefresh {
            deliver(from: mailbox)
        } else {
            isDelivering = true
            tidy(mailbox.takeRequests())
            if mailbox.hasSnapshot(after: version) { tellStore(.refreshRequired) { _ in true } }
            isDelivering = false
            repostMissedDelivery()
        }
    }

    /// Moves on to the newest version and delivers what changed, before it returns. Waits for upkeep, which waits for
    /// nobody.
    /// - Returns: whether there was anything newer; false inside a callback or a write, where nothing can be delivered.
    @discardableResult
    public func refresh() throws -> Bool {
        checkScheduler()
        guard let mailbox else { throw StoreError.noScheduler }
        guard transaction == nil, !isDelivering else { return false }
        let newest = try core.storage.openSnapshot().version
        let before = version
        try core.startUpkeep().catchUp(mailbox, to: newest)
        deliver(from: mailbox)
        return version > before
    }

    private func deliver(from mailbox: Mailbox) {
        isDelivering = true
        // Upkeep may stand at an older version than the one a connection was opened at.
        let mail = mailbox.take(minimum: own?.version ?? version)
        if let snapshot = mail.snapshot, core.isOpen { accept(snapshot, mail) }
        for failure in mail.failures {
            failure.query.fail(failure, { attached[ObjectIdentifier(failure.query)] = nil }, call)
        }
        tidy(mail)
        isDelivering = false
        repostMissedDelivery()
    }

    private func tidy(_ mail: Mail) {
        for query in mail.initials { query.tell(nil, old: nil, call) }
        for subject in mail.sweeps { sweep(subject) }
    }

    private func repostMissedDelivery() {
        guard missedDelivery, !isDelivering, transaction == nil else { return }
        missedDelivery = false
        mailbox?.repost()
    }

    private func accept(_ snapshot: Snapshot, _ mail: Mail) {
        let old = delivered
        reading = .live(delivered: snapshot)
        own = nil
        ownChanges.removeAll(keepingCapacity: true)
        lastOwnChangeIsUsed = false
        epoch += 1
        for update in mail.updates { update.query.accept(update) }
        if !storeTokens.isEmpty { tellStore(mail, from: old, to: snapshot) }
        for update in mail.updates { update.query.tell(update, old: old, call) }
        for update in mail.objects { tell(update, from: old, to: snapshot) }
    }

    private func tellStore(_ mail: Mail, from old: Snapshot?, to new: Snapshot) {
        let from = old?.version ?? 0
        guard new.version > from else { return }
        tellStore(.didChange) { token in
            let skipped = mail.storeSkips.count { record in
                record.version > from && record.version <= new.version && record.tokens.contains { $0 === token }
            }
            return UInt64(skipped) < new.version - from
        }
    }

    private func tellStore(_ notification: StoreNotification, where isConcerned: (StoreToken) -> Bool) {
        for token in storeTokens where isConcerned(token) { run(token) { token.tell(notification) } }
    }

    private func tell(_ update: ObjectUpdate, from old: Snapshot?, to new: Snapshot) {
        let token = update.token
        let change = token.change(
            update, old: old?.row(token.table, token.id), new: new.row(token.table, token.id))
        guard let change else { return }
        run(token) { token.tell(change) }
        if case .deleted = change {
            _ = token.invalidate()
            sweep(.object(token))
        }
    }

    private func call(_ token: CollectionToken, _ change: DeliveredChange) { run(token) { token.tell(change) } }

    /// Runs one callback at the delivered version, whatever earlier callbacks of this delivery have written.
    private func run(_ token: TokenState, _ body: () -> Void) {
        guard core.isOpen, token.begin() else { return }
        asCallback(body)
        token.end()
    }

    private func asCallback(_ body: () -> Void) {
        showsOwn = false
        ownChangesShownFrom = ownChanges.count
        body()
        showsOwn = true
        ownChangesShownFrom = 0
    }
}

/// What observers of the whole store are told.
public enum StoreNotification: Sendable, Equatable {
    /// The connection has moved on to a newer version.
    case didChange
    /// There is a newer version, and `autorefresh` is off: call `refresh()`.
    case refreshRequired
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

    func sweep(_ subject: ObservedSubject) { connection.requestSweep(subject) }
}
