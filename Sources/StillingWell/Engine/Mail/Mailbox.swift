// What upkeep has for one connection: the newest root of each query that changed, what became of each observed object, and
// the snapshot all of it stands at. A newer root overwrites an older one, so a slow observer costs one root per query, and
// nothing is queued or lost.
//
// The lock is a leaf; roots and snapshots that are displaced under it are released after it.
import StillingWellSync

/// How one tree became another, in one window. A class, because it is handed on several times, and a change set is six arrays.
final class KnownChanges: Sendable {
    let from: RankedTree
    let changes: ChangeSet
    /// The rows of the other tree that the window shows, where they are known too.
    let shown: Range<Int>?

    init(from: RankedTree, _ changes: ChangeSet, shown: Range<Int>? = nil) {
        self.from = from
        self.changes = changes
        self.shown = shown
    }
}

/// A new root of one query.
struct RootUpdate: Sendable {
    let query: QueryHandle
    /// Which of the query's attachments it is for; one that has ended is told nothing.
    let attachment: Int
    let tree: RankedTree
    /// Computed by upkeep: how an earlier tree became this one. Of use to whoever was last told that one.
    var ahead: KnownChanges?
    /// Commits that some of the query's observers are not to hear of, in order of versions; nil where there are none, as nearly
    /// always: an empty array counts references.
    var skips: [TreeSkip]?
}

/// The first root of a query at an older version than upkeep's: that of a connection without `autorefresh`.
struct HeldRoot: Sendable {
    let update: RootUpdate
    let version: UInt64
}

/// A query that could not be evaluated.
struct QueryFailure: Sendable {
    let query: QueryHandle
    let attachment: Int
    let error: StoreError
}

/// Something observed that cannot be read any more.
enum ReadFailure: Sendable {
    case query(QueryFailure)
    case object(ObjectUpdate)
}

/// What waits for a connection, and what a turn of its scheduler finds.
struct Mail: Sendable {
    /// The version all of `updates` stand at; nil when upkeep has left nothing, or nothing new enough.
    var snapshot: Snapshot?
    var updates: [RootUpdate] = []
    var objects: [ObjectUpdate] = []
    var storeSkips: [SkipRecord] = []
    /// What the connection slept on, to be let go of.
    fileprivate var slept: Snapshot?
    var failures: [ReadFailure] = []
    var held: [HeldRoot] = []
    /// Queries with an observer that waits for its initial callback, their root being here already.
    var initials: [QueryHandle] = []
    /// What has an observer that was invalidated.
    var sweeps: [ObservedSubject] = []

    /// Whether there is nothing in it but a version to move on to.
    var isOffer: Bool { updates.isEmpty && objects.isEmpty && !hasRequests }

    /// Whether there is something to be done besides moving on to a version.
    fileprivate var hasRequests: Bool { !failures.isEmpty || !held.isEmpty || !initials.isEmpty || !sweeps.isEmpty }
}

/// Something of a connection that has observers.
enum ObservedSubject {
    case query(QueryHandle)
    case object(ObjectHandle)
    case store
    /// Nothing observed, but something to be done in a turn of its own.
    case turn(Turn)

    fileprivate var isTurn: Bool {
        if case .turn = self { true } else { false }
    }
}

/// What somebody on any thread wants done on the connection's scheduler, like a callback.
///
/// Unchecked because nobody runs it elsewhere.
final class Turn: @unchecked Sendable {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

/// What upkeep has for one connection at one version.
struct VersionMail {
    var updates: [RootUpdate] = []
    var objects: [ObjectUpdate] = []
    /// Commits that observers of the whole store are not to hear of.
    var storeSkips: [SkipRecord] = []

    mutating func removeAll() {
        updates.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
        storeSkips.removeAll()
    }
}

final class Mailbox: Sendable {
    fileprivate struct State {
        var mail = Mail()
        /// The scheduler has been asked for a turn that has not begun to take yet.
        var isPosted = false
        /// The scheduler has had a turn.
        var hasTurned = false
        /// Mail below this version is held back: the connection has committed it itself.
        var minimumVersion: UInt64 = 0
        /// What the connection sleeps on, where nobody observes anything there; until mail comes.
        var sleeping: Snapshot?
        /// The connection has ended: nothing is kept any more.
        var isClosed = false
    }

    private let state = Guarded("mailbox", State())
    private let scheduler: any Scheduler

    init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

    /// Upkeep's one call per version and connection.
    /// - Parameter mail: what it holds is taken out of it.
    @inline(__always)
    func put(_ newSnapshot: Snapshot, _ mail: inout VersionMail) {
        var displaced: [RootUpdate] = []
        var oldSnapshot: Snapshot?
        let mustPost = state.withLock { state in
            if state.isClosed { return false }
            oldSnapshot = state.mail.snapshot
            state.mail.snapshot = newSnapshot
            state.mail.keep(&mail.updates, &displaced)
            for update in mail.objects { state.mail.keep(update) }
            if !mail.storeSkips.isEmpty { state.mail.storeSkips += mail.storeSkips }
            return state.shouldPost()
        }
        withExtendedLifetime((displaced, oldSnapshot)) {}
        mail.removeAll()
        if mustPost { scheduler.post() }
    }

    /// Brings queries that could not be evaluated, and the end of observers of objects, at whatever version.
    func put(_ failures: [ReadFailure]) { post { $0.failures += failures } }

    /// Moves waiting mail on to a newer snapshot in which its queries are the same.
    /// - Returns: whether mail is waiting.
    func advance(_ newSnapshot: Snapshot) -> Bool {
        var oldSnapshot: Snapshot?
        let mustPost = state.withLock { state -> Bool? in
            guard state.mail.snapshot != nil else { return nil }
            oldSnapshot = state.mail.snapshot
            state.mail.snapshot = newSnapshot
            return state.shouldPost()
        }
        withExtendedLifetime(oldSnapshot) {}
        if mustPost == true { scheduler.post() }
        return mustPost != nil
    }

    /// Whether the connection has taken everything; upkeep computes ahead only then.
    var isEmpty: Bool { state.withLock { $0.mail.snapshot == nil } }

    /// The connection holds no version until it is used: `snapshot` says when. On the connection's scheduler.
    func sleep(on snapshot: Snapshot) {
        let before = state.withLock { state in
            defer { state.sleeping = snapshot }
            return state.sleeping
        }
        withExtendedLifetime(before) {}
    }

    /// Whether its connection holds no version, so that a newer one is of no use to it.
    var isAsleep: Bool { state.withLock { $0.sleeping?.isAsleep ?? false } }

    /// Whether a turn was asked for that would be the scheduler's first.
    var awaitsFirstTurn: Bool { state.withLock { $0.isPosted && !$0.hasTurned } }

    /// Whether the turn that was asked for comes to nothing before it is asked for again.
    var isHeldBack: Bool { (scheduler as? any RetriedScheduler)?.isHeldBack ?? false }

    /// Where its connection lives, for messages.
    var place: String { scheduler.name }

    /// Brings a first root at an older version.
    func put(_ root: HeldRoot) { post { $0.held.append(root) } }

    /// Asks for the initial callback of an observer that was added to a query already delivered.
    func requestInitial(of query: QueryHandle) { post { $0.initials.append(query) } }

    /// Asks for an invalidated observer to be let go. Any thread.
    func requestSweep(of subject: ObservedSubject) { post { $0.sweeps.append(subject) } }

    private func post(_ add: (inout Mail) -> Void) {
        let mustPost = state.withLock { state in
            if state.isClosed { return false }
            add(&state.mail)
            return state.shouldPost()
        }
        if mustPost { scheduler.post() }
    }

    /// Keeps nothing from here on: the connection has ended. What waits is released. Any thread.
    func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { (state.mail, state.sleeping) = (Mail(), nil) }
            return (state.mail, state.sleeping)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Asks for a turn once more: the last one came at a time when nothing could be delivered.
    func repost() { scheduler.post() }

    /// Whether there is something newer than `version`.
    func hasSnapshot(after version: UInt64) -> Bool {
        state.withLock { ($0.mail.snapshot?.version ?? 0) > version }
    }

    /// Takes what observers have asked for and what has failed, and leaves what upkeep has brought.
    func takeRequests() -> Mail {
        state.withLock { state in
            var mail = state.takeRequests()
            swap(&mail.held, &state.mail.held)
            return mail
        }
    }

    /// Takes the observers that are to be let go of, and leaves everything else for a later turn.
    func takeSweeps() -> [ObservedSubject] {
        state.withLock { state in
            state.isPosted = false
            let all = state.mail.sweeps
            state.mail.sweeps = all.filter(\.isTurn)
            return all.filter { !$0.isTurn }
        }
    }

    /// Takes what is there; roots and snapshot only if they stand at `minimum` or later. On the connection's scheduler.
    func take(minimum: UInt64) -> Mail { state.withLock { $0.take(minimum: minimum) } }
}

extension Mailbox.State {
    /// Whether the scheduler has to be told, which it then counts as told.
    fileprivate mutating func shouldPost() -> Bool {
        if isPosted { return false }
        isPosted = mail.snapshot.map { $0.version >= minimumVersion } ?? false || mail.hasRequests
        return isPosted
    }

    fileprivate mutating func takeRequests() -> Mail {
        isPosted = false
        hasTurned = true
        var taken = Mail()
        swap(&taken.initials, &mail.initials)
        swap(&taken.sweeps, &mail.sweeps)
        swap(&taken.failures, &mail.failures)
        return taken
    }

    fileprivate mutating func take(minimum: UInt64) -> Mail {
        minimumVersion = minimum
        guard let snapshot = mail.snapshot, snapshot.version >= minimum else { return takeRequests() }
        isPosted = false
        hasTurned = true
        for index in mail.updates.indices { mail.updates[index].query.mailSlot = -1 }
        for update in mail.objects { update.object.mailSlot.store(-1, ordering: .relaxed) }
        var taken = Mail()
        swap(&taken, &mail)
        swap(&taken.slept, &sleeping)
        return taken
    }
}

extension Mail {
    /// Takes new roots over. Where none wait, as nearly always, their array is taken as it is: copying an update counts five
    /// references.
    fileprivate mutating func keep(_ new: inout [RootUpdate], _ displaced: inout [RootUpdate]) {
        if updates.isEmpty, Self.giveSlots(new) { return swap(&updates, &new) }
        for update in new { keep(update, &displaced) }
    }

    /// Gives each query the slot of its update, where none of them has one yet.
    /// - Returns: false where a query stands in the list twice, and none has a slot: in one turn upkeep sends a root again with
    ///   the numbers of a column, and only the last one is told of.
    private static func giveSlots(_ updates: [RootUpdate]) -> Bool {
        for index in updates.indices {
            guard updates[index].query.mailSlot < 0 else {
                for given in 0..<index { updates[given].query.mailSlot = -1 }
                return false
            }
            updates[index].query.mailSlot = index
        }
        return true
    }

    private mutating func keep(_ update: RootUpdate, _ displaced: inout [RootUpdate]) {
        let slot = update.query.mailSlot
        guard slot >= 0 else {
            update.query.mailSlot = updates.count
            updates.append(update)
            return
        }
        displaced.append(updates[slot])
        updates[slot] = update
        // What was computed ahead starts from a root that will never be reported; what is to be skipped stays so.
        updates[slot].ahead = nil
        if let waiting = displaced[displaced.count - 1].skips { updates[slot].skips = waiting + (update.skips ?? []) }
    }

    fileprivate mutating func keep(_ update: ObjectUpdate) {
        let slot = update.object.mailSlot.load(ordering: .relaxed)
        if slot >= 0 {
            objects[slot].add(update)
        } else {
            update.object.mailSlot.store(objects.count, ordering: .relaxed)
            objects.append(update)
        }
    }
}
