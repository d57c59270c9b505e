// What other threads have for the upkeep thread: messages, and records of silent commits. `lock` (a leaf) guards all of it;
// nothing is called and nothing is released under it.
import TracedSync

extension Upkeep {
    enum Message {
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
    /// What the store was like just after it, where that has to be known and could be.
    var after: Snapshot?
}

final class UpkeepInbox: @unchecked Sendable {
    private let lock = TracedMutex("upkeep inbox")
    private var messages: [Upkeep.Message] = []
    /// Silent commits that are visible or about to be.
    private var skips: [Skip] = []
    /// How many of them hold snapshots.
    private var holding = 0
    /// So many may, of the readers that the storage has. Silence beyond it is left out where it depends on other rows.
    private static let maxHolding = 256
    private var closed = false

    // MARK: From other threads

    /// - Returns: whether somebody will read it.
    @discardableResult
    func put(_ new: [Upkeep.Message]) -> Bool {
        lock.withLock {
            if !closed { messages += new }
            return !closed
        }
    }

    func announce(_ record: SkipRecord) { lock.withLock { skips.append(Skip(record: record)) } }

    /// Notes what the store was like just after a silent commit, before anyone else can commit.
    func complete(_ record: SkipRecord, _ after: Snapshot) {
        lock.withLock {
            guard holding < Self.maxHolding, let index = skips.lastIndex(where: { $0.record === record }) else {
                return
            }
            skips[index].after = after
            holding += 1
        }
    }

    func withdraw(_ record: SkipRecord) {
        let withdrawn = lock.withLock {
            defer { skips.removeAll { $0.record === record } }
            return skips
        }
        withExtendedLifetime(withdrawn) {}
    }

    func close() { lock.withLock { closed = true } }

    // MARK: From the upkeep thread

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
    func takeSkips(upTo version: UInt64) -> [Skip] {
        lock.withLock {
            if skips.isEmpty { return [] }
            let taken = skips.filter { $0.record.version <= version }
            skips.removeAll { $0.record.version <= version }
            holding -= taken.count { $0.after != nil }
            return taken
        }
    }
}
