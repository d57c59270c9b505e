// Messages and records of suppressing commits from other threads to upkeep. The lock is a leaf: nothing is released
// while it is held.
import StillingWellSync

extension Upkeep {
    enum Message: Sendable {
        case connect(Mailbox)
        case disconnect(Mailbox)
        case attach(Mailbox, QueryHandle, attachment: Int)
        case detach(QueryHandle)
        /// Deliver the first root at an older version, at which the connection stays.
        case hold(Mailbox, QueryHandle, attachment: Int, at: Snapshot)
        /// - Parameter at: the snapshot at `object.since`, for an object with backlinks.
        case watch(Mailbox, ObjectHandle, seen: [UInt8], at: Snapshot?)
        case unwatch(ObjectHandle)
        case observeStore(Mailbox, Bool)
        /// Bring one connection's mail to this version or later, then signal.
        case catchUp(Mailbox, UInt64, CaughtUp)
        case evaluated([(SharedTree, RankedTree)], Snapshot)
        case failed([SharedTree], StoreError)
        /// Keep the sum and the extremes of a column in a query's tree.
        case measure(QueryHandle, attachment: Int, column: Int)
        case measured(SharedTree, from: RankedTree, to: RankedTree)
    }
}

/// A suppressing commit that upkeep has to process.
struct Skip {
    let record: SkipRecord
    /// Whether the commit has to be a step of its own.
    let isHeld: Bool
    /// Snapshot just before a held commit. Nil if it is the `after` of the previous suppressing commit.
    let before: Snapshot?
    /// Snapshot just after a held commit.
    var after: Snapshot?
}

final class UpkeepInbox: Sendable {
    private struct State {
        var messages: [Upkeep.Message] = []
        /// Suppressing commits that are visible or about to be, in order of versions, until upkeep has delivered them.
        var skips: [Skip] = []
        /// Number of suppressing commits that hold snapshots, here or in upkeep.
        var holding = 0
        /// Whether upkeep holds no version, or has not yet chosen the one at which it continues.
        var isResting = false
        /// Latest version at which resting upkeep may continue, because an observer begins there.
        var start: Snapshot?
        var isClosed = false
    }

    /// Number of held suppressing commits above which writers wait. With two snapshots each, they take a quarter of the
    /// storage's readers. Each writing thread adds one before it waits.
    static let maxHolding = 128

    private let state = Guarded("upkeep inbox", State())
    private let hasRoom: TracedCondition

    init() { hasRoom = TracedCondition("upkeep inbox", state) }

    // MARK: From other threads

    /// - Returns: whether upkeep will read the messages.
    @discardableResult
    func put(_ new: [Upkeep.Message]) -> Bool {
        state.withLock {
            if !$0.isClosed { $0.messages += new }
            return !$0.isClosed
        }
    }

    var isResting: Bool { state.withLock { $0.isResting } }

    /// Makes resting upkeep continue at the current newest version or an older one. At the limit of snapshots, upkeep
    /// continues at the version that is newest when it wakes.
    func begin(_ storage: Storage) {
        guard isResting, let newest = try? storage.openSnapshot() else { return }
        let displaced = state.withLock { state -> Snapshot? in
            // If upkeep has continued by itself, it did so at a version that exists already.
            guard state.isResting, newest.version < state.start?.version ?? .max else { return nil }
            defer { state.start = newest }
            return state.start
        }
        withExtendedLifetime((newest, displaced)) {}
    }

    /// Adds the record of a commit that is about to become visible.
    /// - Parameter before: the snapshot before the commit, if the commit has to be a step of its own.
    func announce(_ record: SkipRecord, before: Snapshot?) {
        state.withLock { state in
            if state.isClosed { return }
            let isKnown = before != nil && state.skips.last?.after?.version == before?.version
            state.skips.append(Skip(record: record, isHeld: before != nil, before: isKnown ? nil : before))
            if before != nil { state.holding += 1 }
        }
    }

    /// Sets the snapshot just after a suppressing commit. Called before another commit can begin.
    func complete(_ record: SkipRecord, _ after: Snapshot) {
        state.withLock { state in
            guard let index = state.skips.lastIndex(where: { $0.record === record }) else { return }
            state.skips[index].after = after
        }
    }

    /// Removes the record of a failed commit. Called before another commit can begin.
    func withdraw(_ record: SkipRecord) { drop { $0.record === record } }

    /// Removes the records that upkeep has delivered.
    func forgetSkips(upTo version: UInt64) { drop { $0.record.version <= version } }

    private func drop(_ isOver: (Skip) -> Bool) {
        // Dropped records are released outside of the lock.
        _ = state.withLock { state -> [Skip] in
            if state.skips.isEmpty { return [] }
            let dropped = state.skips.filter(isOver)
            state.skips.removeAll(where: isOver)
            state.holding -= dropped.count { $0.isHeld }
            if !dropped.isEmpty { hasRoom.broadcast() }
            return dropped
        }
    }

    /// Whether too many suppressing commits are held.
    var isFull: Bool { state.withLock { $0.holding > Self.maxHolding } }

    /// Waits while the inbox is full and upkeep reads it.
    /// - Parameter upkeep: the thread that makes room, for reports of waits.
    func waitForRoom(_ upkeep: TracedResource?) {
        state.wait(for: hasRoom, from: upkeep) { $0.holding <= Self.maxHolding || $0.isClosed }
    }

    func close() {
        _ = state.withLock { state in
            state.isClosed = true
            state.holding = 0
            defer { (state.skips, state.isResting, state.start) = ([], false, nil) }
            hasRoom.broadcast()
            return (state.skips, state.start)
        }
    }

    // MARK: From the upkeep thread

    /// Counts a suppressing commit that upkeep keeps; `letGo` ends that.
    func hold() { state.withLock { if !$0.isClosed { $0.holding += 1 } } }

    /// Any thread, because any may release a tree.
    func letGo() {
        state.withLock {
            if $0.isClosed { return }
            $0.holding -= 1
            hasRoom.broadcast()
        }
    }

    /// Notes that upkeep holds no version. Returns false if there are messages or the inbox is closed.
    func rest() -> Bool {
        state.withLock { state in
            state.isResting = state.messages.isEmpty && !state.isClosed
            return state.isResting
        }
    }

    /// Notes that upkeep holds a version again.
    /// - Returns: the version at which an observer begins, or nil. Upkeep continues there, or at its older one.
    func goOn() -> Snapshot? {
        state.withLock { state in
            defer { (state.isResting, state.start) = (false, nil) }
            return state.start
        }
    }

    /// Whether there are no messages and the inbox is open.
    var isQuiet: Bool { state.withLock { $0.messages.isEmpty && !$0.isClosed } }

    /// - Returns: the messages, and whether they are the last. Read at once: `put` accepts messages until the end.
    func take() -> (messages: [Upkeep.Message], isClosed: Bool) {
        state.withLock { state in
            defer { state.messages = [] }
            return (state.messages, state.isClosed)
        }
    }

    /// Records announced up to a visible version, in order. A commit is announced before it is visible.
    func skips(upTo version: UInt64) -> [Skip] {
        state.withLock { $0.skips.isEmpty ? [] : $0.skips.filter { $0.record.version <= version } }
    }
}
