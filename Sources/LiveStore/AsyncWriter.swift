// Writes that nobody waits for: a thread that runs them one after another. Where a commit costs a sync of the file, all
// that have gathered are committed as one, so a hundred writes cost one sync; each still stands or falls alone.
//
// `inbox` (a leaf) guards `jobs` and `isStopped`. Blocks and completions run on the thread with no lock held but, during a
// block, the write lock.
import TracedSync

final class AsyncWriter: @unchecked Sendable {
    /// One write that waits for its turn.
    struct Job: Sendable {
        let store: Store
        let tokens: [NotificationToken]
        let body: @Sendable (Connection) throws -> Void
        let completion: @Sendable (Result<Void, any Error>) -> Void
    }

    private let inbox = TracedMutex("asynchronous writes")
    private let arrived: TracedCondition
    private var jobs: [Job] = []
    private var isStopped = false
    private var thread: TracedThread?
    private let groups: Bool

    /// - Parameter groups: whether what has gathered is committed as one.
    /// - Throws: `noThread`.
    init(groups: Bool) throws(StoreError) {
        self.groups = groups
        arrived = TracedCondition("asynchronous writes", inbox)
        thread = try StoreError.starting("livestore-writer") { [self] in run() }
    }

    /// Takes a write; false once the store has been closed.
    func add(_ job: Job) -> Bool {
        inbox.withLock {
            if isStopped { return false }
            jobs.append(job)
            arrived.broadcast()
            return true
        }
    }

    /// Ends the thread after the write it is in; what has not begun fails with `closed`. Does not wait.
    func stop() {
        let isFirst = inbox.withLock {
            defer { isStopped = true }
            arrived.broadcast()
            return !isStopped
        }
        // Nobody waits for the thread, so it frees itself: one that has ended keeps its stack until then.
        if isFirst { thread?.detach() }
    }

    private func run() {
        while let batch = take() {
            if groups, batch.count > 1 { commitTogether(batch) } else { for job in batch { commitAlone(job) } }
        }
        let abandoned = inbox.withLock { () -> [Job] in
            defer { jobs = [] }
            return jobs
        }
        for job in abandoned { job.completion(.failure(StoreError.closed)) }
    }

    private func take() -> [Job]? {
        inbox.withLock {
            while jobs.isEmpty, !isStopped { arrived.wait() }
            if isStopped { return nil }
            // A write that some are not to hear of is a commit of its own.
            let count = jobs[0].tokens.isEmpty ? jobs.prefix { $0.tokens.isEmpty }.count : 1
            defer { jobs.removeFirst(count) }
            return Array(jobs[..<count])
        }
    }

    private func commitAlone(_ job: Job) {
        job.completion(Result { try job.store.write(withoutNotifying: job.tokens, job.body) })
    }

    private func commitTogether(_ batch: [Job]) {
        let core = batch[0].store.core
        var results: [Result<Void, any Error>] = []
        do {
            let transaction = try core.beginWrite(timeout: nil)
            defer { core.endWrite(transaction) }
            for job in batch { results.append(Result { try runPart(job, transaction) }) }
            try core.commit(transaction, withoutNotifying: [])
        } catch {
            results = batch.map { _ in .failure(error) }
        }
        for (job, result) in zip(batch, results) { job.completion(result) }
    }

    private func runPart(_ job: Job, _ transaction: WriteTransaction) throws {
        try transaction.beginPart()
        let connection = PartConnection(job.store, in: transaction)
        defer { connection.end() }
        do {
            try job.body(connection)
            try transaction.commitPart()
        } catch {
            let cause = transaction.cause(of: error)
            transaction.cancelPart()
            throw cause
        }
    }
}

extension Store {
    /// Runs `body` in a write transaction on a thread of the store's, in the order of calls, and returns once it is
    /// committed as durably as the store promises. What `body` throws changes nothing and fails this write alone.
    ///
    /// With `.full` durability, writes that wait at the same time are committed, and the file is synchronised, once for
    /// all of them.
    /// - Throws: what `body` throws; `diskFull`, `foreignToken`, `closed`, `noThread`, and with tokens `tooManySnapshots`.
    @discardableResult
    public func writeAsync<Value: Sendable>(
        withoutNotifying tokens: [NotificationToken] = [], _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        let value = ResultBox<Value>()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            writeAsync(withoutNotifying: tokens, { value.value = try body($0) }) { continuation.resume(with: $0) }
        }
        return value.value!
    }

    /// The same with a completion, which is called on the store's thread for such writes: keep it short.
    public func writeAsync(
        withoutNotifying tokens: [NotificationToken] = [], _ body: @escaping @Sendable (Connection) throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let job = AsyncWriter.Job(store: self, tokens: tokens, body: body, completion: completion)
        do {
            if try !core.startWriter().add(job) { throw StoreError.closed }
        } catch {
            completion(.failure(error))
        }
    }
}

/// Carries a value out of a block that has run before it is read.
private final class ResultBox<Value>: @unchecked Sendable {
    var value: Value?
}
