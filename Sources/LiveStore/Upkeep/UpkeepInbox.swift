// What other threads have for the upkeep thread: messages, and records of silent commits. `lock` (a leaf) guards all of it;
// nothing is called and nothing is released under it.
import TracedSync

extension Upkeep {
    enum Message {
        case connect(Mailbox)
        case disconnect(Mailbox)
        case attach(Mailbox, ConnectionQuery, attachment: Int)
        case detach(ConnectionQuery)
        case watch(Mailbox, ObjectToken, seen: [UInt8])
        case unwatch(ObjectToken)
        case observeStore(Mailbox, Bool)
        /// Bring one connection's mail to this version or later, then say so.
        case catchUp(Mailbox, UInt64, CaughtUp)
        case evaluated([(SharedTree, RankedTree)], Snapshot)
        case failed([SharedTree], StoreError)
    }
}

final class UpkeepInbox: @unchecked Sendable {
    private let lock = TracedMutex("upkeep inbox")
    private var messages: [Upkeep.Message] = []
    /// Silent commits that are visible or about to be.
    private var skips: [SkipRecord] = []
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

    func announce(_ record: SkipRecord) { lock.withLock { skips.append(record) } }

    func withdraw(_ record: SkipRecord) {
        let withdrawn = lock.withLock {
            defer { skips.removeAll { $0 === record } }
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
    func takeSkips(upTo version: UInt64) -> [SkipRecord] {
        lock.withLock {
            if skips.isEmpty { return [] }
            defer { skips.removeAll { $0.version <= version } }
            return skips.filter { $0.version <= version }
        }
    }
}
