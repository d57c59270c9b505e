// The threads of a write: the one that owns the lock, and those that may end before the write does.
import CPlatform
import Logging

extension WriteTransaction {
    /// Commits, unless nothing was changed. The transaction is over either way.
    /// - Returns: the store's version now.
    /// - Throws: the first failure in a place that could not throw, `diskFull`, and what the engine reports.
    package func commit() throws(StoreError) -> UInt64 {
        guard let host else { return try commitHere() }
        return try host.run { () throws(StoreError) in try commitHere() }
    }

    /// Cancels the write and releases the lock if the calling thread, which owns the lock, ends before `end`.
    package func watchThread() {
        let action = storage.writeLock.threadEnd
        action.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        action.pointee.ended = { Unmanaged<WriteTransaction>.fromOpaque($0!).takeUnretainedValue().endWithThread() }
        cp_add_thread_end(action)
    }

    /// The write ends. On the thread that called `watchThread`.
    private func unwatchThread() { cp_remove_thread_end(storage.writeLock.threadEnd) }

    /// Runs `finish` with the write lock, on the thread that owns it, and releases the lock.
    package func end(_ finish: () -> Void) {
        if let host { return storage.writeLock.unlock(host, finish) }
        unwatchThread()
        finish()
        storage.writeLock.unlock()
    }

    /// The thread has left a write block without returning from it, as `Thread.exit()` does.
    private func endWithThread() {
        cancel()
        storage.writeLock.unlock()
        logCancelled("its thread ended inside the write block; return from the block, or throw an error in it")
    }

    /// Logs that the write was cancelled, and why.
    package func logCancelled(_ reason: String) {
        Logger(label: "livestore").error(
            "a write of the store at \(storage.directory) was cancelled, and what it changed is lost: \(reason)")
    }
}
