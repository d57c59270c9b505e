// What other threads have for the upkeep thread: messages, and records of silent commits. The lock is a leaf; nothing is called
// and nothing is released under it.
import StillingWellSync

extension Upkeep {
    enum Message: Sendable {
        case connect(Mailbox)
        case disconnect(Mailbox)
        case attach(Mailbox, QueryHandle, attachment: Int)
        case detach(QueryHandle)
        /// Bring the first root as it was at an older version, at which the connection stays.
        case hold(Mailbox, QueryHandle, attachment: Int, at: Snapshot)
        /// - Parameter at: the snapshot at `object.since`, for an object with backlinks.
        case watch(Mailbox, ObjectHandle, seen: [UInt8], at: Snapshot?)
        case unwatch(ObjectHandle)
        case observeStore(Mailbox, Bool)
        /// Bring one connection's mail to this version or later, then say so.
        case catchUp(Mailbox, UInt64, CaughtUp)
        case evaluated([(SharedTree, RankedTree)], Snapshot)
        case failed([SharedTree], StoreError)
        /// Have a query's tree know the sum and the extremes of a column.
        case measure(QueryHandle, attachment: Int, column: Int)
        case measured(SharedTree, from: RankedTree, to: RankedTree)
    }
}

/// A silent commit on its way to upkeep.
struct Skip {
    let record: SkipRecord
    /// Whether it has to be a step of its own.
    let isHeld: Bool
    /// What the store was like just before it, for one that is held; nil where the silent commit before it tells.
    let before: Snapshot?
    /// What the store was like just after it, for one that is held.
    var after: Snapshot?
}

final class UpkeepInbox: Sendable {
    private struct State {
        var messages: [Upkeep.Message] = []
        /// Silent commits that are visible or about to be, in order of versions, until upkeep has delivered them.
        var skips: [Skip] = []
        /// How many silent commits are held, here or by upkeep.
        var holding = 0
        /// Upkeep holds no version, or has not said yet at which it goes on.
        var isResting = false
        /// Where it goes on at the latest, for who has begun to observe meanwhile.
        var start: Snapshot?
        var isClosed = false
    }

    /// So many silent commits are held without anybody waiting: with two snapshots each, a quarter of the readers that the
    /// storage has. Each thread that writes adds one before it waits.
    static let maxHolding = 128

    private let state = Guarded("upkeep inbox", State())
    private let hasRoom: TracedCondition

    init() { hasRoom = TracedCondition("upkeep inbox", state) }

    // MARK: From other threads

    /// - Returns: whether somebody will read it.
    @discardableResult
    func put(_ new: [Upkeep.Message]) -> Bool {
        state.withLock {
            if !$0.isClosed { $0.messages += new }
            return !$0.isClosed
        }
    }

    /// Whether upkeep holds no version.
    var isResting: Bool { state.withLock { $0.isResting } }

    /// Has upkeep that rests go on at the newest version there is now, or an older one. At the limit of snapshots it goes on at the
    /// one that is the newest then.
    func begin(_ storage: Storage) {
        guard isResting, let newest = try? storage.openSnapshot() else { return }
        let displaced = state.withLock { state -> Snapshot? in
            // It has gone on by itself, and then at no newer one.
            guard state.isResting, newest.version < state.start?.version ?? .max else { return nil }
            defer { state.start = newest }
            return state.start
        }
        withExtendedLifetime((newest, displaced)) {}
    }

    /// Takes the record of a commit that is about to become visible.
    /// - Parameter before: what the commit begins with, where it has to be held, to be a step of its own.
    func announce(_ record: SkipRecord, before: Snapshot?) {
        state.withLock { state in
            if state.isClosed { return }
            let isKnown = before != nil && state.skips.last?.after?.version == before?.version
            state.skips.append(Skip(record: record, isHeld: before != nil, before: isKnown ? nil : before))
            if before != nil { state.holding += 1 }
        }
    }

    /// Notes what the store was like just after a silent commit, before anyone else can commit.
    func complete(_ record: SkipRecord, _ after: Snapshot) {
        state.withLock { state in
            guard let index = state.skips.lastIndex(where: { $0.record === record }) else { return }
            state.skips[index].after = after
        }
    }

    /// The commit has failed; called before anyone else can commit.
    func withdraw(_ record: SkipRecord) { drop { $0.record === record } }

    /// Forgets what upkeep has delivered.
    func forgetSkips(upTo version: UInt64) { drop { $0.record.version <= version } }

    private func drop(_ isOver: (Skip) -> Bool) {
        // What is returned is released after the lock.
        _ = state.withLock { state -> [Skip] in
            if state.skips.isEmpty { return [] }
            let dropped = state.skips.filter(isOver)
            state.skips.removeAll(where: isOver)
            state.holding -= dropped.count { $0.isHeld }
            if !dropped.isEmpty { hasRoom.broadcast() }
            return dropped
        }
    }

    /// Whether more silent commits are held than should be.
    var isFull: Bool { state.withLock { $0.holding > Self.maxHolding } }

    /// Waits while the inbox is full and somebody reads it.
    /// - Parameter upkeep: the thread that will make room, for reports of waits.
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

    /// Counts a silent commit as held which upkeep goes on to keep; `letGo` takes that back.
    func hold() { state.withLock { if !$0.isClosed { $0.holding += 1 } } }

    /// Any thread: who forgets a tree is not always upkeep's.
    func letGo() {
        state.withLock {
            if $0.isClosed { return }
            $0.holding -= 1
            hasRoom.broadcast()
        }
    }

    /// Upkeep holds no version from here on; false where there is something to do.
    func rest() -> Bool {
        state.withLock { state in
            state.isResting = state.messages.isEmpty && !state.isClosed
            return state.isResting
        }
    }

    /// Upkeep holds a version again.
    /// - Returns: the one that it is to go on at, unless its own is older.
    func goOn() -> Snapshot? {
        state.withLock { state in
            defer { (state.isResting, state.start) = (false, nil) }
            return state.start
        }
    }

    /// Whether there is nothing to do and nothing to end.
    var isQuiet: Bool { state.withLock { $0.messages.isEmpty && !$0.isClosed } }

    /// - Returns: also whether these were the last. Both at once: what somebody waits for was put in before the end.
    func take() -> (messages: [Upkeep.Message], isClosed: Bool) {
        state.withLock { state in
            defer { state.messages = [] }
            return (state.messages, state.isClosed)
        }
    }

    /// Everything announced up to a version that can be seen, in order: what is visible was announced before.
    func skips(upTo version: UInt64) -> [Skip] {
        state.withLock { $0.skips.isEmpty ? [] : $0.skips.filter { $0.record.version <= version } }
    }
}
