// Asynchronous writes: a thread that runs queued write blocks one after another. With `.full` durability all waiting
// writes are committed together, so that a hundred writes need one sync of the file. Each write still succeeds or fails
// alone. Blocks and completions run on the thread. No lock is held then, except the write lock during a block.
import StillingWellSync
import Synchronization

final class AsyncWriter: Sendable {
    /// One write. Its completion is called exactly once.
    final class Job: Sendable {
        private enum Phase: UInt8, AtomicRepresentable { case waiting, begun, cancelled, ended }

        let store: Store
        let tokens: [NotificationToken]
        private let body: @Sendable (Connection) throws -> Void
        private let completion: @Sendable (Result<Void, any Error>) -> Void
        private let phase = Atomic(Phase.waiting)

        init(
            _ store: Store, _ tokens: [NotificationToken], _ body: @escaping @Sendable (Connection) throws -> Void,
            completion: @escaping @Sendable (Result<Void, any Error>) -> Void
        ) {
            (self.store, self.tokens, self.body, self.completion) = (store, tokens, body, completion)
        }

        var isCancelled: Bool { phase.load(ordering: .relaxed) == .cancelled }

        /// Runs the block, holding the write lock.
        /// - Throws: what the block throws; `CancellationError`, without running the block, if the write was cancelled
        ///   before.
        func run(_ connection: Connection) throws {
            guard move(.waiting, to: .begun) else { throw CancellationError() }
            try body(connection)
        }

        /// Completes a write that has not begun with `CancellationError`, so that it never runs. Any thread.
        func cancel() { if move(.waiting, to: .cancelled) { completion(.failure(CancellationError())) } }

        func complete(_ result: Result<Void, any Error>) {
            if phase.exchange(.ended, ordering: .relaxed) != .cancelled { completion(result) }
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

    /// Leaf lock.
    private let inbox = Guarded("asynchronous writes", Inbox())
    private let arrived: TracedCondition
    private let groups: Bool

    /// - Parameter groups: whether all waiting writes are committed as one.
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

    /// Ends the thread after the current write. Writes that have not begun fail with `closed`. Does not wait.
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
            // A write with tokens is committed alone: its notifications are suppressed for the whole commit.
            let count = inbox.jobs[0].tokens.isEmpty ? inbox.jobs.prefix { $0.tokens.isEmpty }.count : 1
            defer { inbox.jobs.removeFirst(count) }
            return Array(inbox.jobs[..<count])
        }
    }

    private func commitAlone(_ job: Job) {
        job.complete(Result { try job.store.write(withoutNotifying: job.tokens) { try job.run($0) } })
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
        defer { core.endWrite(transaction) }
        for job in batch { results.append(Result { try runPart(job, transaction) }) }
        _ = try transaction.commit()
        return transaction
    }

    private func runPart(_ job: Job, _ transaction: WriteTransaction) throws {
        try transaction.beginPart()
        let connection = PartConnection(job.store, in: transaction)
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
    /// Runs `body` in a write transaction on the store's writer thread, in the order of the calls. Returns once the
    /// commit is as durable as the store promises. If `body` throws, this write changes nothing; other writes are not
    /// affected.
    ///
    /// With `.full` durability, writes that wait at the same time share one commit and one sync of the file.
    ///
    /// If the task is cancelled before the write begins, nothing is written and `CancellationError` is thrown. A write
    /// that has begun runs to its end.
    /// - Throws: what `body` throws; `CancellationError`; `diskFull`, `foreignToken`, `closed`, `noThread`, and with tokens
    ///   `tooManySnapshots`.
    @discardableResult
    public func writeAsync<Value: Sendable>(
        withoutNotifying tokens: [NotificationToken] = [], _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        let made = Guarded<Value?>("result of an asynchronous write", nil)
        let cancellation = Cancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let job = AsyncWriter.Job(
                    self, tokens,
                    { connection in
                        let value = try body(connection)
                        made.withLock { $0 = value }
                    }
                ) { continuation.resume(with: $0) }
                // Before queueing, so that a task that is already cancelled queues nothing.
                cancellation.watch(job)
                if !job.isCancelled { queue(job) }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return made.withLock { $0! }
    }

    /// Same as `writeAsync(withoutNotifying:_:)`, with a completion that is called on the store's writer thread. Other
    /// asynchronous writes wait until it returns.
    public func writeAsync(
        withoutNotifying tokens: [NotificationToken] = [], _ body: @escaping @Sendable (Connection) throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        queue(AsyncWriter.Job(self, tokens, body, completion: completion))
    }

    private func queue(_ job: AsyncWriter.Job) {
        do {
            if try !core.startWriter().add(job) { throw StoreError.closed }
        } catch {
            job.complete(.failure(error))
        }
    }
}

/// Forwards the cancellation of a task to its write, whichever of the two is set first. Any thread.
private final class Cancellation: Sendable {
    private struct State {
        var job: AsyncWriter.Job?
        var isCancelled = false
    }

    private let state = Guarded("cancellation of an asynchronous write", State())

    /// Sets the write. Cancels it at once if the task is already cancelled.
    func watch(_ job: AsyncWriter.Job) {
        let isCancelled = state.withLock { state in
            state.job = job
            return state.isCancelled
        }
        if isCancelled { job.cancel() }
    }

    func cancel() {
        let job = state.withLock { state in
            state.isCancelled = true
            return state.job
        }
        job?.cancel()
    }
}
