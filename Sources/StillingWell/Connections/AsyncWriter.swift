// Asynchronous writes: a thread that runs queued write blocks one after another. With `.full` durability consecutive
// waiting writes without tokens and time limits are committed together, so that they need one sync of the file. A write
// whose block throws still fails alone. Blocks run on the thread. Completions run there too, except those of writes
// that are withdrawn or cannot be queued. No lock is held then, except the write lock during a block.
import StillingWellSync
import Synchronization

final class AsyncWriter: Sendable {
    /// One write. Its completion is called exactly once.
    final class Job: Sendable {
        private enum Phase: UInt8, AtomicRepresentable { case waiting, begun, cancelled, ended }

        let store: Store
        let tokens: [NotificationToken]
        /// Time that the write may wait, and its end on the monotonic clock. nil waits without limit.
        private let timeout: Duration?
        private let deadlineNs: Int64
        private let body: @Sendable (Connection) throws -> Void
        private let completion: @Sendable (Result<Void, any Error>) -> Void
        private let phase = Atomic(Phase.waiting)

        init(
            _ store: Store, timeout: Duration?, _ tokens: [NotificationToken],
            _ body: @escaping @Sendable (Connection) throws -> Void,
            completion: @escaping @Sendable (Result<Void, any Error>) -> Void
        ) {
            (self.store, self.tokens, self.body, self.completion) = (store, tokens, body, completion)
            self.timeout = timeout
            deadlineNs = TimeLimit(timeout).deadlineNs
        }

        var isCancelled: Bool { phase.load(ordering: .relaxed) == .cancelled }

        /// Whether the write may share a commit. Notifications are suppressed for a whole commit, and a limit holds for
        /// one write.
        var isShareable: Bool { tokens.isEmpty && timeout == nil }

        /// Time that the write may still wait; nil without a limit.
        var remaining: Duration? { timeout.map { _ in TimeLimit(untilNs: deadlineNs).duration } }

        /// Runs the block, holding the write lock.
        /// - Throws: what the block throws; `CancellationError`, without running the block, if the write was cancelled
        ///   before.
        func run(_ connection: Connection) throws {
            guard move(.waiting, to: .begun) else { throw CancellationError() }
            try body(connection)
        }

        /// Completes a write that has not begun with `error`, so that it never runs. Any thread.
        func cancel(_ error: any Error) { if move(.waiting, to: .cancelled) { completion(.failure(error)) } }

        func complete(_ result: Result<Void, any Error>) {
            switch phase.exchange(.ended, ordering: .relaxed) {
            case .cancelled: return
            case .waiting:
                // A time-out is reported with the whole time limit, not with the part that was left for the lock.
                if let timeout, case .failure(StoreError.writeTimedOut) = result {
                    return completion(.failure(StoreError.writeTimedOut(after: max(timeout, .zero))))
                }
            case .begun, .ended: break
            }
            completion(result)
        }

        private func move(_ old: Phase, to new: Phase) -> Bool {
            phase.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
        }
    }

    private struct Inbox {
        var jobs: [Job] = []
        var isStopped = false
        var thread: TracedThread?
    }

    /// No other lock is taken while this one is held.
    private let inbox = Guarded("asynchronous writes", Inbox())
    private let arrived: TracedCondition
    private let groups: Bool

    /// - Parameter groups: whether waiting writes that may share a commit do so.
    /// - Throws: `noThread`.
    init(groups: Bool) throws(StoreError) {
        self.groups = groups
        arrived = TracedCondition("asynchronous writes", inbox)
        let thread = try StoreError.starting("well-async") { [self] in run() }
        inbox.withLock { $0.thread = thread }
    }

    /// Queues a write. Returns false if the store has been closed.
    func add(_ job: Job) -> Bool {
        inbox.withLock { inbox in
            if inbox.isStopped { return false }
            inbox.jobs.append(job)
            arrived.broadcast()
            return true
        }
    }

    /// Ends the thread after the commit in progress. Writes outside of it that have not begun fail with `closed`. Does
    /// not wait.
    func stop() {
        let thread = inbox.withLock { inbox in
            inbox.isStopped = true
            arrived.broadcast()
            return inbox.thread.take()
        }
        // Nobody joins the thread, so it is detached. Otherwise its stack would stay allocated after it ended.
        thread?.detach()
    }

    private func run() {
        while let taken = take() {
            let batch = taken.filter { !$0.isCancelled }
            if groups, batch.count > 1 { commitTogether(batch) } else { for job in batch { commitAlone(job) } }
        }
        let abandoned = inbox.withLock { inbox in
            defer { inbox.jobs = [] }
            return inbox.jobs
        }
        for job in abandoned { job.complete(.failure(StoreError.closed)) }
    }

    private func take() -> [Job]? {
        inbox.withLock(after: arrived, once: { !$0.jobs.isEmpty || $0.isStopped }) { inbox in
            if inbox.isStopped { return nil }
            let count = max(1, inbox.jobs.prefix { $0.isShareable }.count)
            defer { inbox.jobs.removeFirst(count) }
            return Array(inbox.jobs[..<count])
        }
    }

    private func commitAlone(_ job: Job) {
        job.complete(
            Result {
                try job.store.write(timeout: job.remaining, withoutNotifying: job.tokens) { try job.run($0) }
            })
    }

    private func commitTogether(_ batch: [Job]) {
        var results: [Result<Void, any Error>] = []
        do {
            if let failure = try commitParts(of: batch, &results).flushFailure { throw failure }
        } catch {
            results = batch.map { _ in .failure(error) }
        }
        for (job, result) in zip(batch, results) { job.complete(result) }
    }

    private func commitParts(of batch: [Job], _ results: inout [Result<Void, any Error>]) throws -> WriteTransaction {
        let core = batch[0].store.core
        let transaction = try core.beginWrite(timeout: nil)
        var parts: [PartConnection] = []
        var isStored = false
        defer {
            core.endWrite(transaction)
            // Objects that were added are part of reference cycles until then.
            for part in parts { part.endAdditions(isStored: isStored) }
        }
        for job in batch {
            let part = PartConnection(job.store, in: transaction)
            parts.append(part)
            results.append(Result { try runPart(job, part, transaction) })
        }
        _ = try transaction.commit()
        isStored = true
        return transaction
    }

    private func runPart(_ job: Job, _ connection: PartConnection, _ transaction: WriteTransaction) throws {
        try transaction.beginPart()
        defer { connection.end() }
        do {
            try job.run(connection)
            try transaction.commitPart()
        } catch {
            let cause = transaction.cause(of: error)
            transaction.cancelPart()
            throw cause
        }
    }
}

extension Store {
    /// Runs `body` in a write transaction on the store's writer thread and commits it. Returns what `body` returns once
    /// the commit is as durable as the store promises. The task waits without occupying a thread.
    ///
    ///     let count = try await store.write { connection in
    ///         try connection.add(Note())
    ///         return try connection.objects(Note.self).count
    ///     }
    ///
    /// Asynchronous writes of one `Store` are made in the order of the calls. If `body` throws, changes that it has not
    /// committed itself are discarded; other writes are not affected. With `.full` durability, consecutive writes that
    /// wait at the same time, without tokens and time-outs, share one commit and one sync of the file.
    ///
    /// If the task is cancelled before the write begins, nothing is written and `CancellationError` is thrown. A write
    /// that has begun runs to its end.
    /// - Parameters:
    ///   - timeout: time to wait until the write begins. nil waits without limit; 0 and negative values try once, after
    ///     the asynchronous writes before it.
    ///   - tokens: observers of this store that are not notified of this commit.
    ///   - body: receives a connection for the length of the block.
    /// - Throws: what `body` throws; `CancellationError`; `noThread` if the writer thread cannot be started; what the
    ///   synchronous `write` throws, except `writeInsideWrite`.
    @discardableResult
    public func write<Value>(
        timeout: Duration? = nil, withoutNotifying tokens: [NotificationToken] = [],
        _ body: @escaping @Sendable (Connection) throws -> sending Value
    ) async throws -> sending Value {
        let made = Guarded<Guarded<Value?>?>("result of an asynchronous write", nil)
        let withdrawal = Withdrawal()
        let timer = withdrawal.timer(timeout)
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let job = AsyncWriter.Job(
                    self, timeout: timeout, tokens,
                    { connection in
                        let value = Guarded<Value?>("value of an asynchronous write", try body(connection))
                        made.withLock { $0 = value }
                    }
                ) { continuation.resume(with: $0) }
                // Before queueing, so that a task that is already cancelled queues nothing.
                withdrawal.watch(job)
                if !job.isCancelled { queue(job) }
            }
        } onCancel: {
            withdrawal.withdraw(CancellationError())
        }
        return made.withLock { $0 }!.withLock { $0.take() }!
    }

    /// Runs `body` on the newest version, outside of the caller's actor. Never waits for writers. The connection must
    /// not be used after the block.
    ///
    ///     let titles = try await store.read { try $0.objects(Note.self).map(\.title) }
    ///
    /// Objects stay in the block. `LiveObject.detached()` makes copies that may leave it.
    /// - Throws: what `body` throws; `CancellationError` if the task was cancelled before; `closed`,
    ///   `openedBeforeFork`, `tooManySnapshots`. `damaged` or `storage` if the file cannot be read, even if the block
    ///   returned a value. The first error that the block met where it could not be thrown, such as that of a query
    ///   that was counted, or `unknownValue` of a property.
    public func read<Value>(
        _ body: @Sendable (Connection) throws -> sending Value
    ) async throws -> sending Value {
        try Task.checkCancellation()
        let value = try readNow { connection in
            Guarded<Value?>("value of an asynchronous read", try body(connection))
        }
        return value.withLock { $0.take() }!
    }

    /// Queues a write as the asynchronous `write` does, without waiting for it.
    /// - Parameter completion: called on the store's writer thread, where other asynchronous writes wait until it
    ///   returns. If the write cannot be queued, called by the caller's thread before this returns.
    package func queueWrite(
        withoutNotifying tokens: [NotificationToken] = [], _ body: @escaping @Sendable (Connection) throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        queue(AsyncWriter.Job(self, timeout: nil, tokens, body, completion: completion))
    }

    private func queue(_ job: AsyncWriter.Job) {
        do {
            if try !core.startWriter().add(job) { throw StoreError.closed }
        } catch {
            job.complete(.failure(error))
        }
    }
}

/// Forwards to a write that its task was cancelled or its time is up, whether that happens before or after the write is
/// known. Any thread.
private final class Withdrawal: Sendable {
    private struct State {
        var job: AsyncWriter.Job?
        var reason: (any Error)?
    }

    private let state = Guarded("withdrawal of an asynchronous write", State())

    /// Sets the write. Cancels it at once if there is a reason already.
    func watch(_ job: AsyncWriter.Job) {
        let reason = state.withLock { state in
            state.job = job
            return state.reason
        }
        if let reason { job.cancel(reason) }
    }

    func withdraw(_ reason: any Error) {
        let job = state.withLock { state in
            state.reason = state.reason ?? reason
            return state.job
        }
        job?.cancel(reason)
    }

    /// Starts the task that withdraws the write when its time is up. nil if there is no limit, or if the write is tried
    /// once.
    func timer(_ timeout: Duration?) -> Task<Void, any Error>? {
        guard let timeout, let ns = TimeLimit(timeout).ns, ns > 0 else { return nil }
        return Task { [self] in
            try await Task.sleep(nanoseconds: UInt64(ns))
            withdraw(StoreError.writeTimedOut(after: timeout))
        }
    }
}
