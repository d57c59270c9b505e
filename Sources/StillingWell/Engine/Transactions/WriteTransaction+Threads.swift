// The threads of a write: the one that owns the lock, and those that may end before the write does.
import CStillingWellPlatform
import Logging

extension WriteTransaction {
    /// Takes the write lock and begins a transaction, which `end` ends on the same thread. If that thread ends first, the
    /// transaction is cancelled and the lock released.
    /// - Parameter beganNs: when the write was asked for, if that is recorded.
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

    /// Takes the write lock on a thread of its own and begins a transaction, which any thread may use and end, one at a time.
    /// - Parameters:
    ///   - beganNs: when the write was asked for, if that is recorded.
    ///   - isInside: whether the caller is inside of this write.
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

    /// Begins a transaction. With the write lock, on the thread that owns it.
    @inline(__always)
    private static func beginLocked(
        _ storage: Storage, _ ownerDied: Bool, _ beganNs: Int64?
    ) throws(StoreError) -> WriteTransaction {
        if ownerDied {
            // It may have committed and died before it rang.
            storage.page.ringAll()
            storage.releaseDeadReaders()
        }
        do throws(StoreError) {
            let transaction = try WriteTransaction(storage, buffer: storage.writeBuffer)
            // A commit that was cut short after its last byte becomes visible only when the next transaction begins.
            if ownerDied { storage.page.ringAll() }
            transaction.beganNs = beganNs
            return transaction
        } catch {
            // Upkeep finds out now, not at its next poll, and tells observers.
            if error.endsReading { storage.page.ringAll() }
            throw error
        }
    }

    /// Commits, and opens the version that the commit makes: nobody else can have committed yet.
    /// - Returns: nil where that version cannot be read, as at the limit of snapshots. The commit stands all the same.
    func commitAndShow() throws(StoreError) -> Snapshot? {
        // Taken first: at the limit of snapshots there is none, and a commit must be possible all the same.
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
    /// - Returns: the store's version now.
    /// - Throws: the first failure in a place that could not throw, `diskFull`, and what the engine reports.
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
        action.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        action.pointee.ended = { Unmanaged<WriteTransaction>.fromOpaque($0!).takeUnretainedValue().endWithThread() }
        cp_add_thread_end(action)
    }

    /// Cancels what was not committed, announces the commit and releases the write lock. Then waits until the commit is as safe
    /// as the store promises; `flushFailure` says if the disk did not take it.
    /// - Parameter record: called with the lock if there is a commit and it is recorded; is told when the write was asked for.
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

    /// Ends the transaction and announces its commit. With the write lock, on the thread that owns it.
    @inline(__always)
    private func finish(_ record: (_ beganNs: Int64) -> Void) {
        cancel()
        guard isCommitted else { return }
        if let beganNs { record(beganNs) }
        storage.page.ring(committed: version)
        if version % Storage.deadReaderInterval == 0 { storage.releaseDeadReaders() }
    }

    /// The thread has left a write block without returning from it, as `Thread.exit()` does.
    private func endWithThread() {
        cancel()
        storage.writeLock.unlock()
        logCancelled("its thread ended inside the write block; return from the block, or throw an error in it")
    }

    /// Logs that the write was cancelled, and why.
    func logCancelled(_ reason: String) {
        Logger(label: "stillingwell").error(
            "a write of the store at \(storage.directory) was cancelled, and what it changed is lost: \(reason)")
    }
}
