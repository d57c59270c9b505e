// Mail from upkeep to one connection: the newest root of each changed query, the changes of each observed object, and
// the snapshot at their version. A newer root replaces an older one, so a slow observer costs one root per query and no
// update is lost.
//
// The lock is a leaf. Replaced roots and snapshots are released after it.
import StillingWellSync

/// Changes from one tree to another in one window. A class, so that a copy retains one object.
final class KnownChanges: Sendable {
    let from: RankedTree
    let changes: ChangeSet
    /// Ranks of the new tree that the window shows, or nil if unknown.
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
    /// Generation of the query's attachment. Updates of an earlier one are dropped.
    let attachment: Int
    let tree: RankedTree
    /// Changes from an earlier tree, computed by upkeep. Used if the observers were last told of that tree.
    var ahead: KnownChanges?
    /// Commits that exclude observers of the query, in order of versions. Mostly nil, which needs no reference
    /// counting.
    var skips: [TreeSkip]?
}

/// The first root of a query at an older version than upkeep's, for a connection without `autorefresh`.
struct HeldRoot: Sendable {
    let update: RootUpdate
    let version: UInt64
}

/// Failure to evaluate a query.
struct QueryFailure: Sendable {
    let query: QueryHandle
    let attachment: Int
    let error: StoreError
}

/// An observed query or object that cannot be read any more.
enum ReadFailure: Sendable {
    case query(QueryFailure)
    case object(ObjectUpdate)
}

/// Mail that waits for a connection, and that a delivery takes.
struct Mail: Sendable {
    /// Snapshot at the version of `updates`. Nil if there is none, or none that is new enough.
    var snapshot: Snapshot?
    var updates: [RootUpdate] = []
    var objects: [ObjectUpdate] = []
    var storeSkips: [SkipRecord] = []
    /// Sleeping snapshot of the connection, to be released.
    fileprivate var slept: Snapshot?
    var failures: [ReadFailure] = []
    var held: [HeldRoot] = []
    /// Queries with an observer that waits for its initial callback, and whose root was delivered before.
    var initials: [QueryHandle] = []
    /// Work that other threads requested, in their order.
    var work: [DeliveryWork] = []

    /// Whether the mail has no updates and no requests.
    var isOffer: Bool { updates.isEmpty && objects.isEmpty && !hasRequests }

    /// Whether the mail has more than updates of a version.
    fileprivate var hasRequests: Bool { !failures.isEmpty || !held.isEmpty || !initials.isEmpty || !work.isEmpty }
}

/// An observed subject of a connection.
enum ObservedSubject {
    case query(QueryHandle)
    case object(ObjectHandle)
    case store
}

/// Work of a delivery that any thread can request.
enum DeliveryWork {
    /// Removal of the subject's invalidated observers.
    case sweep(ObservedSubject)
    /// Code that runs like a callback.
    case run(DeliveredBlock)

    fileprivate var swept: ObservedSubject? {
        if case .sweep(let subject) = self { subject } else { nil }
    }
}

/// Code that any thread can request to run on the connection's scheduler.
///
/// Unchecked because it runs on that scheduler only.
final class DeliveredBlock: @unchecked Sendable {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

/// Mail of one step for one connection.
struct VersionMail {
    var updates: [RootUpdate] = []
    var objects: [ObjectUpdate] = []
    /// Suppressing commits that exclude observers of the whole store.
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
        /// Whether a delivery was requested from the scheduler and has not taken mail yet.
        var isPosted = false
        /// Whether the scheduler has run a delivery.
        var hasTurned = false
        /// Version below which mail is held back, because the connection has committed that version itself.
        var minimumVersion: UInt64 = 0
        /// Sleeping snapshot of a connection without observers, until mail comes.
        var sleeping: Snapshot?
        /// Whether the connection has ended, so that mail is dropped.
        var isClosed = false
    }

    private let state = Guarded("mailbox", State())
    private let scheduler: any Scheduler

    init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

    /// Adds the mail of a step. On the upkeep thread.
    /// - Parameter mail: emptied by the call.
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

    /// Adds failures of queries and of observed objects, at any version.
    func put(_ failures: [ReadFailure]) { post { $0.failures += failures } }

    /// Moves waiting mail to a newer snapshot that does not change its queries.
    /// - Returns: whether mail is waiting.
    func advance(_ newSnapshot: Snapshot) -> Bool { send(newSnapshot) { $0.mail.snapshot != nil } }

    /// Sends a newer snapshot without updates. Waiting mail then has that snapshot too. Does nothing if the connection
    /// holds no version. Checks that under the same lock, because the connection may release its version at any time.
    /// - Returns: whether mail is waiting.
    func offer(_ newSnapshot: Snapshot) -> Bool {
        send(newSnapshot) { !$0.isClosed && $0.sleeping?.isAsleep != true }
    }

    /// Replaces the snapshot of the mail if `isWanted`, under the lock, allows it.
    /// - Returns: whether it did.
    @inline(__always)
    private func send(_ newSnapshot: Snapshot, if isWanted: (inout State) -> Bool) -> Bool {
        var oldSnapshot: Snapshot?
        let mustPost = state.withLock { state -> Bool? in
            guard isWanted(&state) else { return nil }
            oldSnapshot = state.mail.snapshot
            state.mail.snapshot = newSnapshot
            return state.shouldPost()
        }
        withExtendedLifetime(oldSnapshot) {}
        if mustPost == true { scheduler.post() }
        return mustPost != nil
    }

    /// Whether the connection has taken all updates. Upkeep computes changes ahead only then.
    var isEmpty: Bool { state.withLock { $0.mail.snapshot == nil } }

    /// Notes that the connection holds no version until `snapshot` is read, and drops a version that was offered
    /// meanwhile. On the connection's scheduler.
    func sleep(on snapshot: Snapshot) {
        let displaced = state.withLock { state in
            var displaced = [state.sleeping]
            state.sleeping = snapshot
            if state.mail.isOffer {
                displaced.append(state.mail.snapshot)
                state.mail.snapshot = nil
            }
            return displaced
        }
        withExtendedLifetime(displaced) {}
    }

    /// Whether the scheduler's first delivery was requested and has not run.
    var awaitsFirstTurn: Bool { state.withLock { $0.isPosted && !$0.hasTurned } }

    /// Whether the requested delivery will not run before it is requested again.
    var isHeldBack: Bool { (scheduler as? any RetriedScheduler)?.isHeldBack ?? false }

    /// Name of the delivery context, for messages.
    var place: String { scheduler.name }

    /// Adds a first root at an older version.
    func put(_ root: HeldRoot) { post { $0.held.append(root) } }

    /// Requests the initial callback of an observer that was added to a query whose root was delivered before.
    func requestInitial(of query: QueryHandle) { post { $0.initials.append(query) } }

    /// Requests work in a later delivery. Any thread.
    func request(_ work: DeliveryWork) { post { $0.work.append(work) } }

    private func post(_ add: (inout Mail) -> Void) {
        let mustPost = state.withLock { state in
            if state.isClosed { return false }
            add(&state.mail)
            return state.shouldPost()
        }
        if mustPost { scheduler.post() }
    }

    /// Drops waiting mail and all later mail, because the connection has ended. Any thread.
    func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { (state.mail, state.sleeping) = (Mail(), nil) }
            return (state.mail, state.sleeping)
        }
        withExtendedLifetime(dropped) {}
    }

    /// Requests a delivery again, after one that could not deliver.
    func repost() { scheduler.post() }

    /// Whether there is mail newer than `version`.
    func hasSnapshot(after version: UInt64) -> Bool {
        state.withLock { ($0.mail.snapshot?.version ?? 0) > version }
    }

    /// Takes requests, failures and held first roots. Leaves updates from upkeep.
    func takeRequests() -> Mail {
        state.withLock { state in
            var mail = state.takeRequests()
            swap(&mail.held, &state.mail.held)
            return mail
        }
    }

    /// Takes removals of observers. Leaves everything else for a later delivery.
    func takeSweeps() -> [ObservedSubject] {
        state.withLock { state in
            state.isPosted = false
            let all = state.mail.work
            state.mail.work = all.filter { $0.swept == nil }
            return all.compactMap(\.swept)
        }
    }

    /// Takes the mail; updates, first roots and the snapshot only if its version is at least `minimum`. On the
    /// connection's scheduler.
    func take(minimum: UInt64) -> Mail { state.withLock { $0.take(minimum: minimum) } }
}

extension Mailbox.State {
    /// Returns whether a delivery has to be requested, and notes the request.
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
        swap(&taken.work, &mail.work)
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
    /// Takes over new roots. Usually none are waiting, and the array is taken as it is.
    fileprivate mutating func keep(_ new: inout [RootUpdate], _ displaced: inout [RootUpdate]) {
        if updates.isEmpty, Self.giveSlots(new) { return swap(&updates, &new) }
        for update in new { keep(update, &displaced) }
    }

    /// Gives each query the index of its update, if no query has one yet.
    /// - Returns: false, with no index set, if a query has two updates. Upkeep sends a root again with measures of a
    ///   column, and only the last one is delivered.
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
        // The changes computed ahead start from a root that will not be reported. Skips are kept.
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
