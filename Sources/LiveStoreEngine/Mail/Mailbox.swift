// What upkeep has for one connection: the newest root of each query that changed, what became of each observed object, and
// the snapshot all of it stands at. A newer root overwrites an older one, so a slow observer costs one root per query, and
// nothing is queued or lost.
//
// `lock` (a leaf) guards everything mutable. Roots and snapshots that are displaced under it are released after it.
import TracedSync

/// How one tree became another, in one window. A class, because it is handed on several times.
final class KnownChanges: Sendable {
    let from: RankedTree
    let changes: ChangeSet

    init(from: RankedTree, _ changes: ChangeSet) {
        self.from = from
        self.changes = changes
    }
}

/// A new root of one query.
package struct RootUpdate: Sendable {
    package let query: ConnectionQuery
    /// Which of the query's attachments it is for; one that has ended is told nothing.
    let attachment: Int
    let tree: RankedTree
    /// Computed by upkeep: how an earlier tree became this one. Of use to whoever was last told that one.
    var ahead: KnownChanges?
    /// Commits that some of the query's observers are not to hear of, in order of versions.
    var skips: [TreeSkip] = []
}

/// The first root of a query at an older version than upkeep's: that of a connection without `autorefresh`.
package struct HeldRoot: Sendable {
    package let update: RootUpdate
    package let version: UInt64
}

/// A query that could not be evaluated.
package struct QueryFailure: Sendable {
    package let query: ConnectionQuery
    let attachment: Int
    let error: StoreError
}

/// What a turn of the scheduler finds.
package struct Mail: Sendable {
    /// The version all of `updates` stand at; nil when upkeep has left nothing, or nothing new enough.
    package var snapshot: Snapshot?
    package var updates: [RootUpdate] = []
    package var objects: [ObjectUpdate] = []
    package var storeSkips: [SkipRecord] = []
    package var failures: [QueryFailure] = []
    package var held: [HeldRoot] = []
    /// Queries with an observer that waits for its initial callback, their root being here already.
    package var initials: [ConnectionQuery] = []
    /// What has an observer that was invalidated.
    package var sweeps: [ObservedSubject] = []
}

/// Something of a connection that has observers.
package enum ObservedSubject {
    case query(ConnectionQuery)
    case object(ObjectToken)
    case store
    /// Nothing observed, but something to be done in a turn of its own.
    case turn(Turn)
}

/// What somebody on any thread wants done on the connection's scheduler, like a callback.
package final class Turn: @unchecked Sendable {
    package let body: () -> Void

    package init(_ body: @escaping () -> Void) { self.body = body }
}

/// What upkeep has for one connection at one version.
package struct VersionMail {
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

package final class Mailbox: @unchecked Sendable {
    private let lock = TracedMutex("mailbox")
    private var snapshot: Snapshot?
    private var updates: [RootUpdate] = []
    private var objects: [ObjectUpdate] = []
    private var storeSkips: [SkipRecord] = []
    private var failures: [QueryFailure] = []
    private var held: [HeldRoot] = []
    private var initials: [ConnectionQuery] = []
    private var sweeps: [ObservedSubject] = []
    /// The scheduler has been asked for a turn that has not begun to take yet.
    private var isPosted = false
    /// Mail below this version is held back: the connection has committed it itself.
    private var minimumVersion: UInt64 = 0
    private let scheduler: any Scheduler

    package init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

    /// Upkeep's one call per version and connection. Failures may come without a version.
    package func put(_ newSnapshot: Snapshot?, _ mail: VersionMail, failures newFailures: [QueryFailure] = []) {
        var displaced: [RootUpdate] = []
        var oldSnapshot: Snapshot?
        let mustPost = lock.withLock { () -> Bool in
            if let newSnapshot {
                oldSnapshot = snapshot
                snapshot = newSnapshot
            }
            for update in mail.updates { keep(update, &displaced) }
            for update in mail.objects { keep(update) }
            storeSkips += mail.storeSkips
            failures += newFailures
            return shouldPost()
        }
        withExtendedLifetime((displaced, oldSnapshot)) {}
        if mustPost { scheduler.post() }
    }

    /// Holding the lock.
    private func keep(_ update: RootUpdate, _ displaced: inout [RootUpdate]) {
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
        updates[slot].skips = displaced[displaced.count - 1].skips + update.skips
    }

    /// Holding the lock.
    private func keep(_ update: ObjectUpdate) {
        let slot = update.token.mailSlot
        if slot >= 0 {
            objects[slot].add(update)
        } else {
            update.token.mailSlot = objects.count
            objects.append(update)
        }
    }

    /// Moves waiting mail on to a newer snapshot in which its queries are the same.
    /// - Returns: whether mail is waiting.
    package func advance(_ newSnapshot: Snapshot) -> Bool {
        var oldSnapshot: Snapshot?
        let (isWaiting, mustPost) = lock.withLock { () -> (Bool, Bool) in
            guard snapshot != nil else { return (false, false) }
            oldSnapshot = snapshot
            snapshot = newSnapshot
            return (true, shouldPost())
        }
        withExtendedLifetime(oldSnapshot) {}
        if mustPost { scheduler.post() }
        return isWaiting
    }

    /// Holding the lock: whether the scheduler has to be told, which it then counts as told.
    private func shouldPost() -> Bool {
        if isPosted { return false }
        let hasMail = snapshot.map { $0.version >= minimumVersion } ?? false
        isPosted = hasMail || !failures.isEmpty || !held.isEmpty || !initials.isEmpty || !sweeps.isEmpty
        return isPosted
    }

    /// Whether the connection has taken everything; upkeep computes ahead only then.
    package var isEmpty: Bool { lock.withLock { snapshot == nil } }

    /// Brings a first root at an older version.
    package func put(_ root: HeldRoot) { post { held.append(root) } }

    /// Asks for the initial callback of an observer that was added to a query already delivered.
    package func requestInitial(of query: ConnectionQuery) {
        post { initials.append(query) }
    }

    /// Asks for an invalidated observer to be let go. Any thread.
    package func requestSweep(of subject: ObservedSubject) {
        post { sweeps.append(subject) }
    }

    private func post(_ add: () -> Void) {
        let mustPost = lock.withLock {
            add()
            return shouldPost()
        }
        if mustPost { scheduler.post() }
    }

    /// Asks for a turn once more: the last one came at a time when nothing could be delivered.
    package func repost() { scheduler.post() }

    /// Whether there is something newer than `version`.
    package func hasSnapshot(after version: UInt64) -> Bool { lock.withLock { (snapshot?.version ?? 0) > version } }

    /// Takes what observers have asked for and what has failed, and leaves what upkeep has brought.
    package func takeRequests() -> Mail {
        let mail = lock.withLock {
            isPosted = false
            var mail = Mail()
            swap(&mail.initials, &initials)
            swap(&mail.sweeps, &sweeps)
            swap(&mail.failures, &failures)
            swap(&mail.held, &held)
            return mail
        }
        for query in mail.initials { query.beginDelivery() }
        return mail
    }

    /// Takes what is there; roots and snapshot only if they stand at `minimum` or later. On the connection's scheduler.
    package func take(minimum: UInt64) -> Mail {
        let mail = lock.withLock {
            isPosted = false
            minimumVersion = minimum
            var mail = Mail()
            swap(&mail.initials, &initials)
            swap(&mail.sweeps, &sweeps)
            swap(&mail.failures, &failures)
            if let current = snapshot, current.version >= minimum {
                for update in updates { update.query.mailSlot = -1 }
                for update in objects { update.token.mailSlot = -1 }
                mail.snapshot = current
                swap(&mail.held, &held)
                swap(&mail.updates, &updates)
                swap(&mail.objects, &objects)
                swap(&mail.storeSkips, &storeSkips)
                snapshot = nil
            }
            return mail
        }
        for query in mail.initials { query.beginDelivery() }
        return mail
    }
}
