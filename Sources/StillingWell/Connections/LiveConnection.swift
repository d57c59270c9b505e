// The connection of a run loop, queue, actor or custom scheduler. Its objects, results and observers are at one
// version, which deliveries advance. Its own writes are shown at once, on top of that version. On its scheduler, except
// its end.
import CStillingWellPlatform
import StillingWellSync
import Synchronization

final class LiveConnection: Connection {
    let scheduler: any Scheduler
    let mailbox: Mailbox
    @exclusivity(unchecked) var own = OwnWrites()
    var attached: [ObjectIdentifier: ConnectionQuery] = [:]
    var observedObjects: [ObjectIdentifier: ObjectToken] = [:]
    var storeTokens: [StoreToken] = []
    /// Observers of single properties, and rows read by `withObservationTracking`. nil until there is one.
    var observedCells: ObservedCells?
    private lazy var trackingProbe = TrackingProbe()
    var isDelivering = false
    private(set) var versionBeforeSleep: UInt64 = 0
    /// Whether a delivery was postponed by a write or another delivery.
    var missedDelivery = false
    /// Thread of a run loop that the connection belongs to, and with which it ends. nil for other connections.
    private let home: ThreadEnd?
    private let hasEnded = Atomic(false)

    init(_ store: Store, on scheduler: any Scheduler) throws {
        self.scheduler = scheduler
        mailbox = Mailbox(scheduler)
        // An actor or executor may run on a run-loop thread. Then that thread is its executor.
        let isHome = scheduler is RunLoopScheduler || scheduler is ActorScheduler && RunLoopThread.isAnyCurrent
        home = isHome ? .ofThisThread : nil
        let snapshot = try store.core.storage.openSnapshot()
        super.init(store, at: snapshot)
        // A run loop's thread is the one that opens the connection. Other schedulers check their thread themselves.
        thread = scheduler is RunLoopScheduler ? cp_thread_number() : 0
        let reference = WeakConnection(self)
        scheduler.setDelivery { reference.connection?.deliver() }
        home?.add(ObjectIdentifier(self)) { reference.connection?.endWithPlace("the thread of its connection ended") }
        try core.startUpkeep().send(.connect(mailbox))
    }

    deinit {
        home?.remove(ObjectIdentifier(self))
        // In a forked child everything here belongs to the parent.
        guard core.storage.isOfThisProcess, shouldEnd() else { return }
        abandonWrite("its connection was released")
        disconnect()
    }

    /// Returns true for the first caller only, which then ends the connection.
    func shouldEnd() -> Bool { !hasEnded.exchange(true, ordering: .acquiringAndReleasing) }

    override var autorefresh: Bool {
        didSet {
            guard autorefresh != oldValue else { return }
            wake()
            if autorefresh { mailbox.repost() } else { attached.values.filter(\.isWaiting).forEach(hold) }
        }
    }

    // MARK: Scheduler

    override var misuse: String? {
        if scheduler.isCurrent { return nil }
        return """
            a connection of \(scheduler.name) was used on \(CallerPlace.current.name): objects and results stay where their \
            connection is; open another connection there
            """
    }

    override func checkScheduler() { if !scheduler.isCurrent { scheduler._checkIsCurrent(misuse ?? "") } }

    // MARK: Shown version

    override var newest: Snapshot? { own.snapshot ?? delivered }

    override func checkReads() throws(StoreError) {
        try transaction?.checkReads()
        try own.snapshot?.checkReads()
        try delivered?.checkReads()
    }

    override func readNewest(forVersion version: UInt64) throws(StoreError) {
        if transaction != nil { return try super.readNewest(forVersion: version) }
        // Before the snapshot is opened, so that the delivered version is never newer than the version read.
        wake()
        show(try core.storage.openSnapshot())
    }

    /// Reads properties at a version that is not older than the delivered one.
    private func show(_ snapshot: Snapshot) {
        own.show(snapshot)
        read(from: snapshot)
    }

    /// Moves to a version. Own writes are forgotten, because the version includes them.
    func moveOn(to snapshot: Snapshot) {
        delivered = snapshot
        read(from: snapshot)
        own.forget()
        epoch += 1
    }

    /// Releases the version while nothing is observed. The next use of the connection opens the newest version.
    func sleep() {
        // If no further snapshot can be opened, the connection keeps the one it has.
        guard attached.isEmpty, observedObjects.isEmpty, storeTokens.isEmpty, autorefresh,
            let sleeping = try? core.storage.sleepingSnapshot(wakesUpkeep: true)
        else { return }
        versionBeforeSleep = version
        moveOn(to: sleeping)
        mailbox.sleep(on: sleeping)
    }

    /// Whether the connection is asleep and holds no version.
    var isAsleep: Bool { delivered?.isAsleep ?? false }

    /// Opens the newest version if the connection is asleep.
    func wake() { _ = delivered?.version }

    /// Runs a callback at the delivered version. Inlined, so that the reported change is not copied.
    @inline(__always)
    func asCallback(_ body: () -> Void) {
        own.hide()
        read(from: delivered)
        body()
        own.unhide()
        read(from: newest)
    }

    override func rows(_ query: ConnectionQuery) throws(StoreError) -> TreeSlice {
        let start: ShownTree
        if let shown = query.shown, shown.epoch == epoch, shown.from == own.shownFrom {
            // Most common path.
            if shown.applied >= own.changes.count { return shown.rows }
            start = shown
        } else if let fault = query.plan.fault {
            throw fault
        } else if query.shown != nil, let aside = exchangeShown(query) {
            query.shown = aside
            if aside.applied >= own.changes.count { return aside.rows }
            start = aside
        } else {
            let delivered = query.deliveredRows
            let rows =
                if let delivered { delivered } else { try evaluate(query.plan.tree, query.table).slice(query.window) }
            start = ShownTree(rows: rows, epoch: epoch, from: own.shownFrom, applied: own.shownFrom)
            if start.applied >= own.changes.count {
                query.shown = start
                return rows
            }
        }
        let now = try query.catchUp(start, self)
        query.shown = now
        return now.rows
    }

    /// Sets shown rows with own writes aside while a callback reads the rows without them, and returns them afterwards.
    @inline(never)
    private func exchangeShown(_ query: ConnectionQuery) -> ShownTree? {
        if own.shownFrom > 0 {
            if let shown = query.shown, shown.epoch == epoch, shown.from == 0 { query.shownAside = shown }
            return nil
        }
        guard let aside = query.shownAside, aside.epoch == epoch else { return nil }
        query.shownAside = nil
        return aside
    }

    override var shownState: ShownState {
        ShownState(epoch: epoch, from: own.shownFrom, changes: own.changes.count)
    }

    override var wholeSource: (any RowSource)? {
        transaction == nil && own.changes.isEmpty && showsDeliveredVersion ? delivered : nil
    }

    /// nil: the source may have list changes of other writers that are not delivered yet. `listSource` checks that for
    /// each table.
    override var anyListSource: (any RowSource)? { nil }

    override func listSource(_ query: ConnectionQuery) -> (any RowSource)? {
        if query.deliveredToAnyVariant != nil { return nil }
        if let wholeSource { return wholeSource }
        guard own.shownFrom == 0, let delivered, let source = currentSource else { return nil }
        let last = transaction.map { $0.version - 1 } ?? source.version
        return own.isAlone(query.table, from: delivered.version, to: last, source) ? source : nil
    }

    override func measure(_ query: ConnectionQuery, _ column: Int) {
        guard let observed = query.toMeasure(column) else { return }
        core.runningUpkeep?.send(.measure(observed, attachment: observed.attachment, column: column))
    }

    // MARK: Own writes

    /// Begins a write. A caller counts as inside of it if it runs on the same queue or, on an actor, in the same task,
    /// and elsewhere on the same thread. On queues and actors the thread may run other code before the write ends.
    override func beginTransaction(timeout: Duration?) throws -> WriteTransaction {
        if let queue = scheduler as? QueueScheduler {
            return try core.beginWrite(timeout: timeout) { queue.isCurrent }
        }
        if scheduler is ActorScheduler, let isInside = ActorScheduler.isInThisTask {
            return try core.beginWrite(timeout: timeout, isInside: isInside)
        }
        return try super.beginTransaction(timeout: timeout)
    }

    override func didBeginWrite() {
        // Before the first change, because own writes are shown on top of the version delivered before them.
        wake()
        own.begin()
    }

    /// Commits, then reads properties at the committed version, opened before the lock is released. If it cannot be
    /// opened the commit is still valid, and own writes are shown with the next delivery.
    override func commit(_ transaction: WriteTransaction, withoutNotifying tokens: [NotificationToken]) throws {
        let shown = try core.commit(transaction, withoutNotifying: tokens) { () throws(StoreError) in
            try transaction.commitAndShow()
        }
        if let shown {
            own.noteCommit(transaction)
            return show(shown)
        }
        hideWrite()
        epoch += 1
    }

    /// Removes the write in progress from what is shown. The caller increments `epoch`.
    private func hideWrite() {
        queries.forEach { $0.cancelWrite(rowEpoch, from: epoch, to: epoch + 1) }
        own.cancel()
    }

    override func endWrite(keeping: Bool) {
        if !keeping { hideWrite() }
        super.endWrite(keeping: keeping)
        if !keeping { observedCells?.didCancel(self) }
        repostMissedDelivery()
    }

    override func set(
        _ table: Table, _ id: ObjectID, _ column: Int, _ transaction: WriteTransaction, _ body: (RowBuffer) -> Void
    ) {
        observedCells?.willSet(table, id, column)
        super.set(table, id, column, transaction, body)
        observedCells?.didSet(table, id, column, self)
    }

    override func noteOwnChange(_ change: LogEntry) { own.note(change) }

    // MARK: Observed properties

    override func noteRead(_ table: Table, _ id: ObjectID, _ column: Int) {
        if trackingProbe.isTracking { makeObservedCells().track(table, id, column, self) }
    }

    func makeObservedCells() -> ObservedCells {
        if let observedCells { return observedCells }
        let new = ObservedCells()
        observedCells = new
        return new
    }
}

extension Connection {
    /// Returns this connection as one that receives deliveries.
    /// - Throws: `noScheduler` if it is not a live connection.
    func live() throws(StoreError) -> LiveConnection {
        guard let live = self as? LiveConnection else { throw .noScheduler }
        return live
    }
}

/// A connection that code on another thread refers to without using it.
///
/// Unchecked because only the connection's scheduler asks for it, which is where it is used.
private final class WeakConnection: @unchecked Sendable {
    private(set) weak var connection: LiveConnection?

    init(_ connection: LiveConnection) { self.connection = connection }
}
