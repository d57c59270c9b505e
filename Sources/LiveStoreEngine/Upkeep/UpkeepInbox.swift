// What other threads have for the upkeep thread: messages, and records of silent commits. `lock` (a leaf) guards all of it;
// nothing is called and nothing is released under it.
import TracedSync

extension Upkeep {
    package enum Message {
        case connect(Mailbox)
        case disconnect(Mailbox)
        case attach(Mailbox, ConnectionQuery, attachment: Int)
        case detach(ConnectionQuery)
        /// Bring the first root as it was at an older version, at which the connection stays.
        case hold(Mailbox, ConnectionQuery, attachment: Int, at: Snapshot)
        case watch(Mailbox, ObjectToken, seen: [UInt8])
        case unwatch(ObjectToken)
        case observeStore(Mailbox, Bool)
        /// Bring one connection's mail to this version or later, then say so.
        case catchUp(Mailbox, UInt64, CaughtUp)
        case evaluated([(SharedTree, RankedTree)], Snapshot)
        case failed([SharedTree], StoreError)
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

final class UpkeepInbox: @unchecked Sendable {
    private let lock = TracedMutex("upkeep inbox")
    private let hasRoom: TracedCondition
    private var messages: [Upkeep.Message] = []
    /// Silent commits that are visible or about to be, in order of versions, until upkeep has delivered them.
    private var skips: [Skip] = []
    /// How many silent commits are held, here or by upkeep.
    private var holding = 0
    /// So many are without anybody waiting: with two snapshots each, a quarter of the readers that the storage has. Each
    /// thread that writes adds one before it waits.
    static let maxHolding = 128
    private var closed = false

    init() { hasRoom = TracedCondition("upkeep inbox", lock) }

    // MARK: From other threads

    /// - Returns: whether somebody will read it.
    @discardableResult
    func put(_ new: [Upkeep.Message]) -> Bool {
        lock.withLock {
            if !closed { messages += new }
            return !closed
        }
    }

    /// - Parameter before: what the commit begins with, where it has to be held.
    func announce(_ record: SkipRecord, before: Snapshot?) {
        lock.withLock {
            if closed { return }
            let isKnown = before != nil && skips.last?.after?.version == before?.version
            skips.append(Skip(record: record, isHeld: before != nil, before: isKnown ? nil : before))
            if before != nil { holding += 1 }
        }
    }

    /// Notes what the store was like just after a silent commit, before anyone else can commit.
    func complete(_ record: SkipRecord, _ after: Snapshot) {
        lock.withLock {
            guard let index = skips.lastIndex(where: { $0.record === record }) else { return }
            skips[index].after = after
        }
    }

    func withdraw(_ record: SkipRecord) { drop { $0.record === record } }

    /// Forgets what upkeep has delivered.
    func forgetSkips(upTo version: UInt64) { drop { $0.record.version <= version } }

    private func drop(_ isOver: (Skip) -> Bool) {
        let dropped = lock.withLock { () -> [Skip] in
            if skips.isEmpty { return [] }
            let dropped = skips.filter(isOver)
            skips.removeAll(where: isOver)
            holding -= dropped.count { $0.isHeld }
            if !dropped.isEmpty { hasRoom.broadcast() }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Whether more silent commits are held than should be.
    var isFull: Bool { lock.withLock { holding > Self.maxHolding } }

    /// Waits while the inbox is full and somebody reads it.
    /// - Parameter upkeep: the thread that will make room, for reports of waits.
    func waitForRoom(_ upkeep: TracedResource?) {
        lock.withLock {
            while holding > Self.maxHolding, !closed { hasRoom.wait(for: upkeep) }
        }
    }

    func close() {
        let dropped = lock.withLock {
            closed = true
            holding = 0
            defer { skips = [] }
            hasRoom.broadcast()
            return skips
        }
        withExtendedLifetime(dropped) {}
    }

    // MARK: From the upkeep thread

    /// Counts a silent commit as held which upkeep goes on to keep; `letGo` takes that back.
    func hold() { lock.withLock { if !closed { holding += 1 } } }

    /// Any thread: who forgets a tree is not always upkeep's.
    func letGo() {
        lock.withLock {
            if closed { return }
            holding -= 1
            hasRoom.broadcast()
        }
    }

    /// Whether there is nothing to do and nothing to end.
    var isQuiet: Bool { lock.withLock { messages.isEmpty && !closed } }

    /// - Returns: also whether these were the last. Both at once: what somebody waits for was put in before the end.
    func take() -> (messages: [Upkeep.Message], isClosed: Bool) {
        lock.withLock {
            defer { messages = [] }
            return (messages, closed)
        }
    }

    /// Everything announced up to a version that can be seen, in order: what is visible was announced before.
    func skips(upTo version: UInt64) -> [Skip] {
        lock.withLock { skips.isEmpty ? [] : skips.filter { $0.record.version <= version } }
    }
}
