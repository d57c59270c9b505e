// State shared by a `Store` and its connections: the storage, which other `Store` values of the process may share, the
// upkeep thread, which keeps queries up to date, the thread of asynchronous writes, and a recorder.
import Foundation
import Logging
import StillingWellSync

final class StoreCore: Sendable {
    private struct State {
        var upkeep: Upkeep?
        var writer: AsyncWriter?
        var isClosed = false
        var closing: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    let storage: Storage
    let recording = Recording()
    private let upkeepPollNs: Int64?
    private let upkeepNowNs: @Sendable () -> Int64
    /// Never held while upkeep is joined or a transaction runs.
    private let state = Guarded("store", State())

    init(_ storage: Storage, upkeepPollNs: Int64?, upkeepNowNs: @escaping @Sendable () -> Int64) {
        (self.storage, self.upkeepPollNs, self.upkeepNowNs) = (storage, upkeepPollNs, upkeepNowNs)
    }

    deinit {
        // In a forked child these threads do not exist.
        guard storage.isOfThisProcess else { return }
        let (upkeep, writer) = state.withLock { ($0.upkeep, $0.writer) }
        upkeep?.stop()
        writer?.stop()
    }

    /// Returns the thread for asynchronous writes, which the first such write starts.
    func startWriter() throws -> AsyncWriter {
        try storage.checkProcess()
        return try state.withLock { state in
            if let writer = state.writer { return writer }
            // Without a sync, a commit costs less than the nested transactions of a group.
            let started = try AsyncWriter(groups: storage.durability == .full)
            if state.isClosed { started.stop() }
            state.writer = started
            return started
        }
    }

    /// Returns the upkeep thread, which the first live connection starts. A store that is only written to has none.
    func startUpkeep() throws -> Upkeep {
        try storage.checkProcess()
        return try state.withLock { state in
            if state.isClosed { throw StoreError.closed }
            if let upkeep = state.upkeep { return upkeep }
            let started = try Upkeep(storage, pollNs: upkeepPollNs, nowNs: upkeepNowNs)
            state.upkeep = started
            return started
        }
    }

    var runningUpkeep: Upkeep? { state.withLock { $0.upkeep } }

    /// Stops deliveries and refuses further work. Snapshots that are held stay readable. The file is closed when
    /// nothing refers to the storage any more.
    func close() {
        guard storage.isOfThisProcess else { return }
        let (upkeep, writer, told) = state.withLock { state in
            state.isClosed = true
            defer { state.closing = [:] }
            return (state.upkeep.take(), state.writer, Array(state.closing.values))
        }
        writer?.stop()
        upkeep?.stop()
        for tell in told { tell() }
    }

    /// Registers a closure to call when the store is closed. Calls it at once if it is closed. Any thread.
    func whenClosing(_ key: ObjectIdentifier, _ tell: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isClosed { state.closing[key] = tell }
            return state.isClosed
        }
        if isOver { tell() }
    }

    func forgetClosing(_ key: ObjectIdentifier) {
        let forgotten = state.withLock { $0.closing.removeValue(forKey: key) }
        withExtendedLifetime(forgotten) {}
    }

    var isOpen: Bool { state.withLock { !$0.isClosed } }

    func checkOpen() throws {
        try storage.checkProcess()
        if !isOpen { throw StoreError.closed }
    }

    /// Takes the write lock and begins a transaction. `endWrite` must be called on the same thread. If that thread ends
    /// first, the transaction is cancelled and the lock released.
    func beginWrite(timeout: Duration?) throws -> WriteTransaction {
        try checkOpen()
        let beganNs = recording.current?.nowNs
        return try WriteTransaction.begin(storage, TimeLimit(timeout), beganNs: beganNs)
    }

    /// Takes the write lock on a helper thread and begins a transaction. Any thread may then use and end it, one at a
    /// time.
    /// - Parameter isInside: whether the caller runs inside this write.
    func beginWrite(timeout: Duration?, isInside: @escaping @Sendable () -> Bool) throws -> WriteTransaction {
        try checkOpen()
        let beganNs = recording.current?.nowNs
        return try WriteTransaction.beginOnHost(storage, TimeLimit(timeout), beganNs: beganNs, isInside: isInside)
    }

    /// Releases the write lock, and wakes upkeep after a commit. Cancels changes that were not committed. Returns once
    /// a commit is as durable as the store promises; if the flush failed, `transaction.flushFailure` is set. After some
    /// commits with suppressed notifications it waits, with no lock held, if upkeep is too far behind.
    func endWrite(_ transaction: WriteTransaction) {
        transaction.end { record(transaction, beganNs: $0) }
        // Pages of held versions are copied or released. Upkeep does that itself while commits wake it.
        if transaction.isCommitted, transaction.version % SharedPage.Bell.slowInterval == 0,
            runningUpkeep?.hearsCommits.load(ordering: .sequentiallyConsistent) != true
        {
            storage.tendHeldVersions(newest: transaction.version)
        }
        for wait in transaction.waitsForRoom { wait() }
    }

    /// Cancels a write that nothing will end, and logs it. Any thread that has sole use of the write.
    /// - Parameter event: what ended before the write did.
    func abandonWrite(_ transaction: WriteTransaction, _ event: String) {
        endWrite(transaction)
        transaction.logCancelled(
            "\(event) before commitWrite or cancelWrite was called; call one of them on every path, or use write { }")
    }

    /// Commits. Observers that are not to be notified are registered with their upkeep before the commit becomes
    /// visible.
    /// - Parameter commit: commits the transaction.
    /// - Throws: `foreignToken`, and errors of `closeRow`, `openSnapshot`, `checkReads`, `takeReader` and `commit`.
    func commit<Committed>(
        _ transaction: WriteTransaction, withoutNotifying tokens: [NotificationToken],
        by commit: () throws(StoreError) -> Committed
    ) throws -> Committed {
        if tokens.isEmpty || transaction.entries.isEmpty { return try commit() }
        guard tokens.allSatisfy({ $0.storage === storage }) else { throw StoreError.foreignToken }
        try transaction.closeRow()
        let states = tokens.map(\.state)
        let before = try storage.openSnapshot()
        let record = SkipRecord(transaction, states, tables: storage.tablesByID, before: before)
        try before.checkReads()
        // Taken before the commit, because no resource may be missing after it.
        let isHeld = states.contains(where: \.needsOwnStep)
        let reader = isHeld ? try storage.takeReader() : nil
        let followers = Array(
            Dictionary(
                tokens.compactMap { $0.upkeep() }.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { $1 }
            ).values)
        for upkeep in followers { upkeep.inbox.announce(record, before: isHeld ? before : nil) }
        let committed: Committed
        do {
            committed = try commit()
        } catch {
            for upkeep in followers { upkeep.inbox.withdraw(record) }
            reader.map(storage.recycle)
            throw error
        }
        guard let reader else { return committed }
        transaction.waitsForRoom = followers.map { upkeep in { upkeep.waitForRoom() } }
        do {
            // No other commit can happen before the lock is released.
            let after = try storage.openSnapshot(with: reader)
            for upkeep in followers { upkeep.inbox.complete(record, after) }
        } catch {
            storage.recycle(reader)
            Logger(label: "stillingwell").error(
                """
                the store cannot be read after commit \(record.version), so observers named in withoutNotifying may be told \
                of it: \(error)
                """
            )
        }
        return committed
    }
}
