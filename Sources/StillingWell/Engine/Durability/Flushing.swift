// Flushes of a store's file, separate from commits. One flush serves all waiting threads and processes.
//
// After a power cut, the store begins at the version that was flushed last and is recorded in `durable.mdb`. Its pages
// must not be reused before the next record is on the disk, even if processes are killed. So each process that commits
// holds a version not newer than the recorded one with an LMDB reader, and LMDB reuses no page freed since. The hold is
// advanced by flushes, and by the process's flush thread (FlushThread.swift), which also makes flushes that no commit
// waits for.
//
// A flush holds `page.flushMutex`; waiters sleep on `page.flushRound`. Callers may hold the write lock, which is never
// taken here.
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc
import Logging
import StillingWellSync
import Synchronization

final class Flushing: Sendable {
    /// Time to wait for another flush before trying again, which finds out whether its process is alive.
    private static let patienceNs: Int64 = 20_000_000
    /// Number of waits of `patienceNs` for other processes to advance their holds when the store is full.
    private static let mostRounds = 50
    private static let mutexResource = TracedResource(.fileLock, "store flush")

    private let page: SharedPage
    private let plan: FlushPlan
    private let directory: String
    private let writeLock: WriteLock
    /// Whether commits wait for their flush.
    private let waits: Bool
    /// Used with the flush mutex held.
    private let file: FlushFile
    private let readers: FlushReaders
    private let lastFlushNs = Atomic<Int64>(0)
    /// Whether this process has committed, so that closing has to flush.
    private let hasCommitted = Atomic(false)
    private let thread: FlushThread
    private let files = AtomicLazyReference<HeldFiles>()
    // Limits up to which there is room, and a stuck hold of another process. Written with the write lock held, except
    // by `expectNoRoom`.
    private let isEnoughUntil = Atomic<UInt64>(0)
    private let isEnoughUntilPage = Atomic<Int>(0)
    private let stuckHold = Atomic<UInt64>(0)

    /// - Parameter environment: an open environment whose folder no other process can open meanwhile.
    init(
        _ environment: OpaquePointer, _ directory: StoreDirectory, _ page: SharedPage, _ writeLock: WriteLock,
        waits: Bool, isNew: Bool, _ recovery: Recovery, _ plan: FlushPlan
    ) throws(StoreError) {
        (self.page, self.writeLock, self.plan) = (page, writeLock, plan)
        self.directory = directory.path
        self.waits = waits
        file = try FlushFile(
            directory.path, directory.modes, isEmptied: isNew, isNamed: !page.wasAlone || recovery.isNamed)
        readers = FlushReaders(environment, page, directory.path)
        thread = FlushThread(page, plan)
        guard page.wasAlone else { return }
        cp_store64(page.flushed, recovery.flushed)
        cp_store64(page.flushNumber, recovery.number)
        cp_store64(page.flushBegun, recovery.begun)
        cp_store64(page.flushToken, recovery.token)
    }

    /// Makes flushes check that the files are still at their paths. Called once the store is open.
    func watch(_ held: HeldFiles) { _ = files.storeIfNil(held) }

    private var environment: OpaquePointer { readers.environment }

    /// Newest transaction of any process.
    private var newest: UInt64 {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return UInt64(info.me_last_txnid)
    }

    private var flushed: UInt64 { cp_load64(page.flushed) }

    private var failure: StoreError? {
        let code = Int32(bitPattern: cp_load32(page.flushFailure))
        if code == 0 { return nil }
        return .storage(
            operation: "flush", code: code,
            reason: """
                the disk did not take what was written to \(directory) (\(String(cString: strerror(code)))), so commits since the last \
                flush may be lost; see to the disk, close the store in every process, and open it again
                """)
    }

    // MARK: Commits

    /// Called with the write lock, before LMDB's transaction begins. If this process holds nothing, as before its first
    /// write, flushes what others have committed since the last flush. Also makes room in a full store.
    /// - Throws: `storage` if a flush has failed, after which no commit is accepted until the store is opened again.
    ///   Errors of `flush` and of readers.
    @inline(__always)
    func beforeWrite() throws(StoreError) {
        if cp_load32(page.flushFailure) != 0 || readers.held == FlushReaders.nothing { try takeHold() }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        if info.me_last_txnid > isEnoughUntil.load(ordering: .relaxed)
            || info.me_last_pgno > isEnoughUntilPage.load(ordering: .relaxed)
        {
            try makeRoom()
        }
    }

    @inline(never)
    private func takeHold() throws(StoreError) {
        if let failure { throw failure }
        try readers.reserve()
        try moveHold(isWriting: true)
    }

    // MARK: Room

    /// Makes the next write check for room, after a write was refused for lack of it. Any thread.
    func expectNoRoom() { isEnoughUntil.store(0, ordering: .relaxed) }

    /// Flushes if a full store keeps too many pages for the last flush. Requires the write lock.
    @inline(never)
    private func makeRoom() throws(StoreError) {
        var isFull = false
        try alone(unless: { false }) { () throws(StoreError) in
            let reader = try readers.begin()
            var room = try look(reader)
            readers.putBack(reader)
            if room.isTight {
                isFull = true
                try flush(isWriting: true)
                room.giveBack()
            }
            let (transaction, lastPage) = room.isEnoughUntil
            isEnoughUntil.store(transaction, ordering: .relaxed)
            isEnoughUntilPage.store(lastPage, ordering: .relaxed)
        }
        // The others need the flush mutex, so it is not held here.
        if isFull { moveOthers() }
    }

    private func look(_ reader: FlushReader) throws(StoreError) -> FlushRoom {
        do throws(EngineFailure) {
            return try FlushRoom(reader, environment, keptSince: oldestHold ?? min(readers.held, reader.number))
        } catch {
            readers.putBack(reader)
            throw error.error("read the list of free pages", path: directory) { _ in nil }
        }
    }

    private var oldestHold: UInt64? { page.holds.map(\.transactionID).min() }

    /// Makes other processes advance their holds to the last flush. A hold for which that failed is not waited for
    /// again.
    private func moveOthers() {
        for _ in 0..<Self.mostRounds {
            let round = cp_load32(page.flushRound)
            guard let oldest = oldestHold, oldest < flushed, oldest != stuckHold.load(ordering: .relaxed) else {
                return
            }
            thread.wake()
            _ = cp_futex_wait(page.flushRound, round, Self.patienceNs)
        }
        stuckHold.store(oldestHold ?? 0, ordering: .relaxed)
        // Frees readers of killed processes.
        mdb_reader_check(environment, nil)
    }

    /// Called after the commit is visible and the write lock released. Returns when the commit is as durable as it has
    /// to be.
    /// - Parameter transaction: LMDB's number of the commit.
    func afterWrite(_ transaction: UInt64) throws(StoreError) {
        hasCommitted.store(true, ordering: .relaxed)
        let hasThread = thread.isRunning || startThread()
        if waits { return try wait(for: transaction) }
        let ahead = transaction &- min(flushed, transaction)
        if ahead >= plan.everyCommits { try hurry(transaction, ahead, hasThread) }
    }

    @inline(never)
    private func hurry(_ transaction: UInt64, _ ahead: UInt64, _ hasThread: Bool) throws(StoreError) {
        if !hasThread { return try moveHold() }
        if transaction.isMultiple(of: plan.everyCommits) { thread.wake() }
        if ahead >= plan.mostCommits { try wait(for: transaction - plan.mostCommits / 2) }
    }

    /// - Returns: false if the system cannot create a thread.
    @inline(never)
    private func startThread() -> Bool {
        // `end` joins the thread before this object is released.
        thread.start(
            .init(
                // `held` is the largest number if the process holds nothing.
                lags: { [unowned self] in newest > readers.held },
                ahead: { [unowned self] in newest &- min(flushed, newest) },
                flush: { [unowned self] () throws(StoreError) in try moveHold() },
                isLost: { [unowned self] in failure != nil }))
    }

    /// Returns once everything committed before the call is on the disk.
    func synchronize() throws(StoreError) { try wait(for: newest) }

    /// Returns once a transaction and all before it are on the disk.
    private func wait(for transaction: UInt64) throws(StoreError) {
        try alone(unless: { flushed >= transaction }) { () throws(StoreError) in try flush(isWriting: false) }
    }

    /// Holds the newest version, after flushing it if necessary.
    /// - Parameter isWriting: whether the caller has the write lock.
    private func moveHold(isWriting: Bool = false) throws(StoreError) {
        try alone(unless: { false }) { () throws(StoreError) in
            let reader = try readers.begin()
            if reader.number <= flushed { return readers.hold(reader) }
            readers.putBack(reader)
            try flush(isWriting: isWriting)
        }
    }

    /// Releases the hold, which a process that only reads does not need. Called once the store is open.
    func letGo() { readers.letGo() }

    /// Flushes remaining commits and stops everything. Called when the storage is closed, before LMDB's environment.
    func end() {
        thread.stop()
        if hasCommitted.load(ordering: .relaxed) {
            do throws(StoreError) { try synchronize() } catch { sayLost(error) }
        }
        readers.end()
    }

    private func sayLost(_ error: StoreError) {
        if case .replaced = error, let isLeft = try? files.load()?.isPathTaken(), !isLeft {
            // The folder was deleted, and its commits with it.
            return
        }
        Logger(label: "stillingwell").error("the last commits to \(directory) may be lost: \(error)")
    }

    // MARK: Flushes

    /// Runs `body` with the flush mutex held, unless another thread or process makes `isDone` true first.
    private func alone(
        unless isDone: () -> Bool, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        while !isDone() {
            let round = cp_load32(page.flushRound)
            if isDone() { return }
            if let failure { throw failure }
            Tracing.note(.willWait, on: Self.mutexResource)
            var ownerDied = false
            let code = cp_robust_mutex_lock(page.flushMutex, 0, &ownerDied)
            guard code == 0 else {
                if code == ETIMEDOUT { _ = cp_futex_wait(page.flushRound, round, Self.patienceNs) }
                Tracing.note(.gaveUp, on: Self.mutexResource)
                if code == ETIMEDOUT { continue }
                throw .storage(operation: "flush", code: code, reason: String(cString: strerror(code)))
            }
            Tracing.note(.acquired, on: Self.mutexResource)
            defer {
                Tracing.note(.released, on: Self.mutexResource)
                cp_robust_mutex_unlock(page.flushMutex)
                _ = cp_add32(page.flushRound, 1)
                _ = cp_futex_wake_all(page.flushRound)
            }
            if !isDone() { try body() }
            return
        }
    }

    /// Flushes the newest version. Requires the flush mutex.
    private func flush(isWriting: Bool) throws(StoreError) {
        // Waiting writers commit first and share the flush, for at most half the time of the last one.
        if waits, !isWriting { writeLock.letWaitingPass(ns: lastFlushNs.load(ordering: .relaxed) / 2) }
        let reader = try readers.begin()
        let header = try FlushHeader(of: reader, readers, environment, directory)
        let beganNs = monotonicNs()
        // An unfinished flush of a killed process has used its number: its marks are the newest until a larger one.
        let number = FlushRecord.nextNumber(
            after: cp_load64(page.flushBegun), keeping: cp_load64(page.flushNumber))
        cp_store64(page.flushBegun, number)
        let record = FlushRecord(
            number: number, boot: plan.boot, transaction: reader.number, pageBytes: header.pageBytes,
            token: .random(in: 1 ... .max), rootsSum: header.rootsSum, header: header.bytes)
        var code = write(.begin(record, after: cp_load64(page.flushToken)), header.pageBytes)
        if code == 0 { code = mdb_env_sync(environment, 1) }
        if code == 0 { try checkFiles(reader) }
        if code == 0 { code = file.write(record) }
        if code == 0 { code = write(.end(record), header.pageBytes) }
        guard code == 0 else {
            // The system drops pages that it failed to write, and would report success for the next flush.
            cp_store32(page.flushFailure, UInt32(bitPattern: code))
            readers.putBack(reader)
            throw failure ?? .storage(operation: "flush", code: code, reason: directory)
        }
        cp_store64(page.flushNumber, record.number)
        cp_store64(page.flushToken, record.token)
        cp_store64(page.flushed, record.transaction)
        lastFlushNs.store(monotonicNs() - beganNs, ordering: .relaxed)
        readers.hold(reader)
    }

    /// Checks that the flushed files are at the store's path. Runs after the flush, so that no commit is acknowledged
    /// that began after the files were removed.
    /// - Throws: `replaced` or `cannotOpen`. The reader is then returned to the pool.
    private func checkFiles(_ reader: FlushReader) throws(StoreError) {
        do throws(StoreError) { try files.load()?.check() } catch {
            readers.putBack(reader)
            throw error
        }
    }

    /// Writes a mark into the store's file, without flushing it.
    /// - Returns: an error number, or 0.
    private func write(_ mark: FlushMark, _ pageBytes: Int) -> Int32 {
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &descriptor)
        return FlushFile.write(mark.encoded, descriptor, off_t(mark.place * pageBytes + FlushMark.offset))
    }
}
