// Threads of a write: the thread that owns the lock, and callers' threads that may end before the write does.
import CStillingWellPlatform
import Logging
import StillingWellBasis

extension WriteTransaction {
    /// Takes the write lock and begins a transaction, which `end` ends on the same thread. If that thread ends first,
    /// the transaction is cancelled and the lock released.
    /// - Parameter beganNs: time at which the write was requested, if that is recorded.
    static func begin(
        _ storage: Storage, _ limit: TimeLimit, beganNs: Int64?
    ) throws(StoreError) -> WriteTransaction {
        let ownerDied = try storage.writeLock.lock(limit)
        do throws(StoreError) {
            let transaction = try beginLocked(storage, ownerDied, beganNs)
            transaction.watchThread()
            return transaction
        } catch {
            storage.writeLock.unlock()
            throw error
        }
    }

    /// Takes the write lock on a host thread and begins a transaction. Any thread may use and end it, one at a time.
    /// - Parameters:
    ///   - beganNs: time at which the write was requested, if that is recorded.
    ///   - isInside: called by threads that want to write: whether they run inside of this write, which is an error.
    static func beginOnHost(
        _ storage: Storage, _ limit: TimeLimit, beganNs: Int64?, isInside: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> WriteTransaction {
        let (host, transaction) = try storage.writeLock.lockOnHost(limit, isInside: isInside) {
            (ownerDied) throws(StoreError) in
            try beginLocked(storage, ownerDied, beganNs)
        }
        transaction.host = host
        return transaction
    }

    /// Begins a transaction. Requires the write lock, on the thread that owns it.
    @inline(__always)
    private static func beginLocked(
        _ storage: Storage, _ ownerDied: Bool, _ beganNs: Int64?
    ) throws(StoreError) -> WriteTransaction {
        if ownerDied {
            // The dead owner may have committed without ringing the bell.
            storage.page.ringAll()
            storage.releaseDeadReaders()
        }
        do throws(StoreError) {
            let transaction = try WriteTransaction(storage, buffer: storage.writeBuffer)
            // A commit interrupted after its last byte becomes visible only when the next transaction begins.
            if ownerDied { storage.page.ringAll() }
            transaction.beganNs = beganNs
            return transaction
        } catch {
            // Upkeep notices the failure at once, not at its next poll, and tells observers.
            if error.endsReading { storage.page.ringAll() }
            throw error
        }
    }

    /// Commits and opens a snapshot of the committed version: the lock is held, so no other commit can come between.
    /// - Returns: nil if that version cannot be read, as at the limit of snapshots. The commit is valid all the same.
    func commitAndShow() throws(StoreError) -> Snapshot? {
        // The reader is taken first. At the limit of snapshots there is none, but the commit has to be possible.
        guard let reader = try? storage.takeReader() else {
            _ = try commit()
            return nil
        }
        do throws(StoreError) {
            _ = try commit()
        } catch {
            storage.recycle(reader)
            throw error
        }
        if let snapshot = try? storage.openSnapshot(with: reader) { return snapshot }
        storage.recycle(reader)
        return nil
    }

    /// Commits, unless nothing was changed. The transaction is over either way.
    /// - Returns: the store's newest version.
    /// - Throws: errors of `commitHere`.
    func commit() throws(StoreError) -> UInt64 {
        try host == nil ? commitHere() : commitOnHost()
    }

    @inline(never)
    private func commitOnHost() throws(StoreError) -> UInt64 {
        try host!.run { () throws(StoreError) in try commitHere() }
    }

    /// Cancels the write and releases the lock if the calling thread, which owns the lock, ends before `end`.
    @inline(__always)
    private func watchThread() {
        let action = storage.writeLock.threadEnd
        action.pointee.context = ObjectPointer.borrowed(self)
        action.pointee.ended = { ObjectPointer.object($0!, as: WriteTransaction.self).endWithThread() }
        cp_add_thread_end(action)
    }

    /// Cancels a transaction that was not committed, or announces its commit, and releases the write lock. Then waits
    /// until the commit is as durable as the store promises. Sets `flushFailure` if the disk failed to write it.
    /// - Parameter record: called with the lock for a recorded commit, with the time at which the write was requested.
    func end(_ record: (_ beganNs: Int64) -> Void) {
        if host != nil {
            endOnHost(record)
        } else {
            cp_remove_thread_end(storage.writeLock.threadEnd)
            finish(record)
            storage.writeLock.unlock()
        }
        guard isCommitted, let flushing = storage.flushing else { return }
        do throws(StoreError) { try flushing.afterWrite(engineNumber) } catch { flushFailure = error }
    }

    @inline(never)
    private func endOnHost(_ record: (_ beganNs: Int64) -> Void) { storage.writeLock.unlock(host!) { finish(record) } }

    /// Ends the transaction and announces its commit. Requires the write lock, on the thread that owns it.
    @inline(__always)
    private func finish(_ record: (_ beganNs: Int64) -> Void) {
        cancel()
        guard isCommitted else { return }
        if let beganNs { record(beganNs) }
        storage.page.ring(committed: version)
        if version % Storage.deadReaderInterval == 0 { storage.releaseDeadReaders() }
    }

    /// Called if the thread leaves a write block without returning from it, as by `Thread.exit()`.
    private func endWithThread() {
        cancel()
        storage.writeLock.unlock()
        logCancelled("its thread ended inside the write block; return from the block, or throw an error in it")
    }

    /// Logs that the write was cancelled, with a reason.
    func logCancelled(_ reason: String) {
        Logger(label: "stillingwell").error(
            "a write of the store at \(storage.directory) was cancelled, and what it changed is lost: \(reason)")
    }
}
