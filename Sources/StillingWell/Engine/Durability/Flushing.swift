// Flushes of a store's file, which commits do not make themselves: one serves all who wait, threads and processes.
//
// What was flushed last, and is recorded in `durable.mdb`, is where the store begins after a power cut. So none of its pages may be
// written anew before the next record is on the disk, whoever is killed meanwhile: each process that commits holds, by a reader of the
// engine's own, a version that is not newer than the recorded one (the engine uses no page again that was freed since). The hold is
// moved on by whoever flushes, and by a thread of the process's (FlushThread.swift) that also flushes what nobody waits for.
//
// `page.flushMutex` is held by the one who flushes; who waits for it sleeps on `page.flushRound`. The write lock may be held by who
// comes here, and is never taken here.
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc
import Logging
import StillingWellSync
import Synchronization

final class Flushing: Sendable {
    /// How long a flush by another process may last before somebody looks whether it lives.
    private static let patienceNs: Int64 = 20_000_000
    /// How often, and how long, somebody waits for other processes to move on, where the store is full.
    private static let mostRounds = 50
    private static let mutexResource = TracedResource(.fileLock, "store flush")

    private let page: SharedPage
    private let plan: FlushPlan
    private let directory: String
    // The engine's, which any thread may ask, and begin a transaction of.
    nonisolated(unsafe) private let environment: OpaquePointer
    private let writeLock: WriteLock
    /// Whether commits wait.
    private let waits: Bool
    /// Used by who has the flush mutex.
    private let file: FlushFile
    private let readers: FlushReaders
    private let lastFlushNs = Atomic<Int64>(0)
    /// Whether there is anything that closing has to flush.
    private let hasCommitted = Atomic(false)
    private let thread: FlushThread
    private let files = AtomicLazyReference<HeldFiles>()
    // Up to when there is room enough, and a hold of another process that did not move when there was not. With the write lock.
    private let isEnoughUntil = Atomic<UInt64>(0)
    private let isEnoughUntilPage = Atomic<Int>(0)
    private let stuckHold = Atomic<UInt64>(0)

    /// Of an environment that is open, and whose folder no other process can open meanwhile.
    init(
        _ environment: OpaquePointer, _ directory: StoreDirectory, _ page: SharedPage, _ writeLock: WriteLock,
        waits: Bool, isNew: Bool, _ recovery: Recovery, _ plan: FlushPlan
    ) throws(StoreError) {
        (self.environment, self.page, self.writeLock, self.plan) = (environment, page, writeLock, plan)
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

    /// Has flushes look whether the files are at their paths. Once the store is open.
    func watch(_ held: HeldFiles) { _ = files.storeIfNil(held) }

    /// The newest transaction of any process.
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

    /// Called with the write lock, before the engine's transaction begins. Flushes where this process holds nothing and others have
    /// committed since the last flush: once, as it begins to write.
    /// - Throws: where a flush has failed: nothing more is promised until the store is opened again.
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

    /// Has it looked for room before the next write: one was refused for want of it. Any thread.
    func expectNoRoom() { isEnoughUntil.store(0, ordering: .relaxed) }

    /// Flushes where what is kept for the last flush is much of what a full store has left. With the write lock.
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
        // Without the flush mutex, which they need.
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

    /// Has other processes hold what has just been flushed. One that is stopped is waited for once.
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
        // What was held by processes that were killed.
        mdb_reader_check(environment, nil)
    }

    /// Called once the commit is visible and the write lock given back. Returns when it is as safe as it has to be.
    /// - Parameter transaction: the engine's.
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

    /// - Returns: false where the system has no room for a thread.
    @inline(never)
    private func startThread() -> Bool {
        // It ends before this goes, which joins it.
        thread.start(
            .init(
                // Of a process that holds nothing no number is larger.
                lags: { [unowned self] in newest > readers.held },
                ahead: { [unowned self] in newest &- min(flushed, newest) },
                flush: { [unowned self] () throws(StoreError) in try moveHold() },
                isLost: { [unowned self] in failure != nil }))
    }

    /// Returns once everything is on the disk that was committed before.
    func synchronize() throws(StoreError) { try wait(for: newest) }

    /// Returns once a transaction is on the disk, and all before it.
    private func wait(for transaction: UInt64) throws(StoreError) {
        try alone(unless: { flushed >= transaction }) { () throws(StoreError) in try flush(isWriting: false) }
    }

    /// Holds the newest version, once that is flushed.
    /// - Parameter isWriting: whether the caller has the write lock.
    private func moveHold(isWriting: Bool = false) throws(StoreError) {
        try alone(unless: { false }) { () throws(StoreError) in
            let reader = try readers.begin()
            if reader.number <= flushed { return readers.hold(reader) }
            readers.putBack(reader)
            try flush(isWriting: isWriting)
        }
    }

    /// Holds nothing: who only reads has nothing to hold. Once the store is open.
    func letGo() { readers.letGo() }

    /// Flushes what is left, and ends everything. When the storage goes, before the engine is closed.
    func end() {
        thread.stop()
        if hasCommitted.load(ordering: .relaxed) {
            do throws(StoreError) { try synchronize() } catch { sayLost(error) }
        }
        readers.end()
    }

    private func sayLost(_ error: StoreError) {
        if case .replaced = error, let isLeft = try? files.load()?.isPathTaken(), !isLeft {
            // Its folder was deleted, and so were its commits.
            return
        }
        Logger(label: "stillingwell").error("the last commits to \(directory) may be lost: \(error)")
    }

    // MARK: Flushes

    /// Runs `body` with the flush mutex, unless somebody else has done what it is for.
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

    /// With the flush mutex.
    private func flush(isWriting: Bool) throws(StoreError) {
        // Who is about to commit comes along, as long as that is cheap beside a flush.
        if waits, !isWriting { writeLock.letWaitingPass(ns: lastFlushNs.load(ordering: .relaxed) / 2) }
        let reader = try readers.begin()
        let header = try FlushHeader(of: reader, readers, environment, directory)
        let beganNs = monotonicNs()
        // One that a process was killed in has had its number, and its marks stand as the newest until there is a larger one.
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
            // The system forgets what it could not write, and would call the next flush a success.
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

    /// Looks whether what was flushed is at the store's path. After the flush, so that nothing is acknowledged that began after the files
    /// were removed.
    /// - Throws: `replaced`, and puts the reader back.
    private func checkFiles(_ reader: FlushReader) throws(StoreError) {
        do throws(StoreError) { try files.load()?.check() } catch {
            readers.putBack(reader)
            throw error
        }
    }

    /// Marks the store's file, in the system's memory.
    /// - Returns: an error number, or 0.
    private func write(_ mark: FlushMark, _ pageBytes: Int) -> Int32 {
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &descriptor)
        return FlushFile.write(mark.encoded, descriptor, off_t(mark.place * pageBytes + FlushMark.offset))
    }
}
