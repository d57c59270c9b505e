// What all handles and connections of one opened store share: its storage, and the upkeep thread once somebody observes.
//
// `lock` guards `upkeep` and `isClosed`. It is never held while upkeep is joined or a transaction runs.
import Foundation
import TracedSync

final class StoreCore: @unchecked Sendable {
    let storage: Storage
    private let lock = TracedMutex("store")
    private var upkeep: Upkeep?
    private var isClosed = false

    init(_ storage: Storage) { self.storage = storage }

    deinit { upkeep?.stop() }

    /// The upkeep thread, started by the first live connection: a store that is only written to pays nothing for it.
    func startUpkeep() throws -> Upkeep {
        try lock.withLock {
            if isClosed { throw StoreError.closed }
            if let upkeep { return upkeep }
            let started = try Upkeep(storage)
            upkeep = started
            return started
        }
    }

    func detach(_ query: ConnectionQuery) { runningUpkeep?.send(.detach(query)) }

    var runningUpkeep: Upkeep? { lock.withLock { upkeep } }

    /// Ends deliveries and refuses further work. Snapshots that are held stay readable; the file is closed with the last.
    func close() {
        let running = lock.withLock { () -> Upkeep? in
            isClosed = true
            defer { upkeep = nil }
            return upkeep
        }
        running?.stop()
    }

    var isOpen: Bool { lock.withLock { !isClosed } }

    func checkOpen() throws {
        if !isOpen { throw StoreError.closed }
    }

    /// Runs `body` with a new transaction, holding the write lock. `body` commits; what it does not commit is cancelled.
    func withWriteLock<Result>(timeout: Double?, _ body: (WriteTransaction) throws -> Result) throws -> Result {
        try checkOpen()
        let timeoutNs = timeout.map { Int64($0 * 1e9) } ?? -1
        let ownerDied = try storage.writeLock.lock(timeoutNs: timeoutNs)
        defer { storage.writeLock.unlock() }
        if ownerDied {
            // It may have committed and died before it rang.
            storage.page.ringAll()
            storage.releaseDeadReaders()
        }
        let transaction = try WriteTransaction(storage, buffer: storage.writeBuffer)
        // A commit that was cut short after its last byte becomes visible only when the next transaction begins.
        if ownerDied { storage.page.ringAll() }
        defer {
            transaction.cancel()
            if transaction.isCommitted {
                storage.page.ring(committed: transaction.version)
                if transaction.version % Storage.deadReaderInterval == 0 {
                    storage.releaseDeadReaders()
                    storage.writeLock.forgetDead()
                }
            }
        }
        return try body(transaction)
    }
}
