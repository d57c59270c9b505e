// The page that every process of a store maps: the write lock, the bells, the state of flushes, identities of files,
// and one slot per process that follows the change log. It holds no data: a process that opens the store alone
// initialises it.
//
// Guards: `mutex` is robust and process-shared, and taken through WriteLock. `flushMutex` is the same for Flushing;
// words about flushes are written with it held once the store is open, except `flushWish` and `flushRound`. These two,
// `waiting`, the bells and the slots are atomics. A slot is claimed by compare-and-exchange of its pid.
import CStillingWellPlatform
import Glibc
import StillingWellSync

/// Unchecked because of the map, whose words are guarded as the head of this file says, and because of descriptors,
/// which change only while one thread uses the page.
final class SharedPage: @unchecked Sendable {
    struct Layout {
        static let magic: UInt64 = 0x4c53_5061_6765_0006  // "LSPage", layout 6
        static let magicOffset = 0
        static let bell = 8
        static let waiting = 16
        static let slowBell = 20
        static let turn = 24
        static let turnCommits = 28
        static let turnOwner = 32
        static let turnStart = 40
        static let mutex = 64
        static let flushMutex = 128
        static let flushed = 192
        static let flushNumber = 200
        static let flushRound = 208
        static let flushWish = 212
        static let flushFailure = 216
        static let flushToken = 224
        static let flushBegun = 232
        static let files = 256
        static let slots = 512
        static let slotStride = 32
        static let slotCount = 96
        static let bytes = 4096
    }

    /// Version of a slot that keeps no log entries.
    static let noVersion = UInt64.max
    /// Resource of the bells in traces.
    private static let bellResource = TracedResource(.signal, "store bell")

    let base: UnsafeMutableRawPointer
    private let generation = cp_fork_generation()
    /// Bell of this instance, an atomic like those in the page.
    private let ownBell: UnsafeMutablePointer<UInt32>
    /// Descriptor of the page's file. −1 after `closeInChild`.
    private var file: Int32
    /// Descriptor of the folder, locked while this process opens the store, else −1.
    private var folder: Int32
    /// Whether no other process had the store open. The content of the page has then been reset.
    let wasAlone: Bool
    /// Whether a flush of the processes that have the store open, or had it open last, has failed.
    let hadFailedFlush: Bool

    /// Maps the page of the store in `directory`, and keeps other processes from opening it until `admitOthers`.
    ///
    /// There are two locks. The opening process holds the folder's lock; all processes that have the store open share
    /// that of the page. With only one lock, a process that waits while the opening one is killed would take the page
    /// as initialised, and use what a crash has left there.
    /// - Parameter deadlineNs: until when to wait for a process that is opening the store, perhaps migrating it.
    init(_ directory: String, _ modes: FileModes, deadlineNs: Int64) throws(StoreError) {
        let path = directory + "/" + StoreFolder.shared
        let folder = try FolderLock.take(directory, modes, deadlineNs: deadlineNs)
        var files = [folder]
        func failure(_ what: String) -> StoreError {
            let error = FolderLock.failure(what, path, lockedBy: files.last.flatMap { FolderLock.holder(of: $0) })
            for file in files { FolderLock.release(file) }
            return error
        }
        // Relative to the folder, because its path may lead to another folder by now. Follows no symbolic link.
        var file = openat(folder, StoreFolder.shared, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, modes.file)
        if file >= 0 {
            fchmod(file, modes.file)
        } else if errno == EEXIST {
            file = openat(folder, StoreFolder.shared, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        }
        guard file >= 0 else { throw failure("open") }
        files.append(file)
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("open") }
        if status.st_mode & S_IFMT != S_IFREG {
            errno = EISDIR
            throw failure("open")
        }
        let alone = flock(file, LOCK_EX | LOCK_NB) == 0
        if !alone, !FolderLock.lock(file, LOCK_SH, deadlineNs: deadlineNs) { throw failure("lock") }
        guard ftruncate(file, off_t(Layout.bytes)) == 0,
            let base = mmap(nil, Layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED
        else { throw failure("map") }
        self.base = base
        ownBell = .allocate(capacity: 1)
        ownBell.initialize(to: 0)
        self.file = file
        self.folder = folder
        self.wasAlone = alone
        hadFailedFlush =
            base.load(fromByteOffset: Layout.magicOffset, as: UInt64.self) == Layout.magic
            && base.load(fromByteOffset: Layout.flushFailure, as: UInt32.self) != 0
        if alone {
            memset(base, 0, Layout.bytes)
            cp_robust_mutex_init(mutex)
            cp_robust_mutex_init(flushMutex)
            base.storeBytes(of: Layout.magic, toByteOffset: Layout.magicOffset, as: UInt64.self)
        }
        guard base.load(fromByteOffset: Layout.magicOffset, as: UInt64.self) == Layout.magic else {
            // All properties are set, so `deinit` unmaps and closes.
            throw .cannotOpen(
                path: path, reason: "another version of the library has it open; close that process first")
        }
    }

    /// Admits other processes after this one has set the store up. Called once, before other threads have the page.
    func admitOthers() {
        flock(file, LOCK_SH)
        FolderLock.release(folder)
        folder = -1
    }

    /// Runs `body`, which removes the store's files, if no other process has the store open or is opening it. The last
    /// use of the page, when this process does not use its files any more.
    func ifAlone(in directory: String, _ body: () -> Void) {
        // If two processes close at once, the second waits for the first. An opening process is left alone.
        let deadlineNs = monotonicNs() + 100_000_000
        guard let folder = try? FolderLock.take(directory, deadlineNs: deadlineNs, makesFolder: false) else { return }
        defer { FolderLock.release(folder) }
        // If the folder was removed, a store of another process may be at its path now.
        guard FolderLock.isPresent(file, at: "\(directory)/\(StoreFolder.shared)") else { return }
        if flock(file, LOCK_EX | LOCK_NB) == 0 {
            body()
        } else {
            flock(file, LOCK_UN)
        }
    }

    /// Another process that has the store open, or nil if there is none or it is unknown.
    var holder: pid_t? { FolderLock.holder(of: file, besides: getpid()) }

    /// Descriptor of the page's file, negative after `closeInChild`.
    var descriptor: Int32 { file }

    /// Closes the file in a forked child. The parent keeps its lock.
    func closeInChild() {
        if file >= 0 { close(file) }
        file = -1
    }

    deinit {
        munmap(base, Layout.bytes)
        ownBell.deallocate()
        // In a forked child both locks belong to the parent, so they are not released.
        let giveBack = generation == cp_fork_generation() ? FolderLock.release : { _ = close($0) }
        if file >= 0 { giveBack(file) }
        if folder >= 0 { giveBack(folder) }
    }

    var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        (base + Layout.mutex).assumingMemoryBound(to: pthread_mutex_t.self)
    }
    func word(_ offset: Int) -> UnsafeMutablePointer<UInt32> {
        (base + offset).assumingMemoryBound(to: UInt32.self)
    }

    func longWord(_ offset: Int) -> UnsafeMutablePointer<UInt64> {
        (base + offset).assumingMemoryBound(to: UInt64.self)
    }

    // MARK: Writers' turns

    /// Number of waiting writers.
    var waiting: UnsafeMutablePointer<UInt32> { word(Layout.waiting) }
    /// Number of turns that have begun.
    var turn: UnsafeMutablePointer<UInt32> { word(Layout.turn) }
    /// Thread that has the turn, its number of writes in it, and its start in nanoseconds. Written by the owner.
    var turnOwner: UnsafeMutablePointer<UInt64> { longWord(Layout.turnOwner) }
    var turnCommits: UnsafeMutablePointer<UInt32> { word(Layout.turnCommits) }
    var turnStart: UnsafeMutablePointer<UInt64> { longWord(Layout.turnStart) }

    // MARK: The bell

    /// Number of commits and other wake-ups, modulo 2^31. A read transaction begins again if it changed meanwhile.
    var bellCount: UInt32 { count(.everyCommit) }

    /// Bell to wait for. `slow` is for processes without observers, which only have to release old versions. `own` is
    /// for those that hold no version: neither commits nor other processes ring it.
    enum Bell {
        case everyCommit, slow, own

        /// Commits between two rings of the slow bell. Pages freed meanwhile cannot be reused, so commits write to
        /// others, which are in no cache. At 256, a commit without observers took 3.4 µs longer than in a store without
        /// upkeep; at 64 2.4 µs, at 32 the same.
        static let slowInterval: UInt64 = 64
    }

    /// Number of rings in the upper 31 bits. The lowest bit says that a thread may sleep. It is set before sleeping and
    /// cleared by the next ring, so a killed process leaves it set only until then.
    private func word(of bell: Bell) -> UnsafeMutablePointer<UInt32> {
        switch bell {
        case .everyCommit: word(Layout.bell)
        case .slow: word(Layout.slowBell)
        case .own: ownBell
        }
    }

    func count(_ bell: Bell) -> UInt32 { cp_load32(word(of: bell)) >> 1 }

    /// Announces the commit of `version`. Requires the write lock: if its owner is killed before, the next owner rings.
    func ring(committed version: UInt64) {
        ring(.everyCommit)
        if version % Bell.slowInterval == 0 { ring(.slow) }
    }

    /// Wakes the upkeep of every process that waits for a commit, and this instance's own.
    func ringAll() {
        ring(.everyCommit)
        ring(.slow)
        ring(.own)
    }

    /// Rings the bells and wakes every sleeper, even if its mark was overwritten. For a thread about to be joined.
    func wakeAll() {
        ringAll()
        for bell in [Bell.everyCommit, .slow, .own] { _ = cp_futex_wake_all(word(of: bell)) }
    }

    func ring(_ bell: Bell) {
        let word = word(of: bell)
        if cp_ring_bell32(word) { cp_futex_wake_all(word) }
    }

    /// Whether a thread may sleep until a bell rings.
    func isAwaited(_ bell: Bell) -> Bool { cp_load32(word(of: bell)) & 1 != 0 }

    /// Sleeps until the bell has rung since its count was `seen`, or the time has passed. May return earlier.
    func wait(for bell: Bell, since seen: UInt32, timeoutNs: Int64) {
        let word = word(of: bell)
        if Tracing.isOn {
            let hasRung = { cp_load32(word) >> 1 != seen }
            if Tracing.wait(for: Self.bellResource, mayTimeOut: true, until: hasRung) { return }
        }
        Tracing.note(.willWait, on: Self.bellResource)
        let current = cp_mark_sleeper32(word)
        if current >> 1 == seen { _ = cp_futex_wait(word, current, timeoutNs) }
        Tracing.note(.gaveUp, on: Self.bellResource)
    }

    // MARK: Followers of the change log

    func slot(_ index: Int) -> (pid: UnsafeMutablePointer<UInt64>, version: UnsafeMutablePointer<UInt64>) {
        let start = (base + Layout.slots + index * Layout.slotStride).assumingMemoryBound(to: UInt64.self)
        return (start, start + 1)
    }

    /// Takes a slot for this process. Returns nil if all are taken: the log is then not kept for this process, which
    /// falls back to comparing snapshots.
    func claimSlot() -> Int? {
        let pid = UInt64(getpid())
        for index in 0..<Layout.slotCount {
            let slot = slot(index)
            let owner = cp_load64(slot.pid)
            guard owner == 0 || Self.isDead(owner) else { continue }
            if cp_exchange_if_equal64(slot.pid, owner, pid) {
                cp_store64(slot.version, Self.noVersion)
                for hold in HoldKind.allCases { setHold(0, hold, ofSlot: index) }
                return index
            }
        }
        return nil
    }

    func setVersion(_ version: UInt64, ofSlot index: Int) { cp_store64(slot(index).version, version) }

    func releaseSlot(_ index: Int) {
        cp_store64(slot(index).version, Self.noVersion)
        cp_store64(slot(index).pid, 0)
    }

    /// Oldest version of the slots of living processes, or `noVersion`. Frees slots with a version of dead processes.
    func oldestFollowedVersion() -> UInt64 {
        var oldest = Self.noVersion
        for index in 0..<Layout.slotCount {
            let slot = slot(index)
            let pid = cp_load64(slot.pid)
            guard pid != 0 else { continue }
            let version = cp_load64(slot.version)
            guard version != Self.noVersion else { continue }
            if Self.isDead(pid) {
                _ = cp_exchange_if_equal64(slot.pid, pid, 0)
            } else {
                oldest = min(oldest, version)
            }
        }
        return oldest
    }

    static func isDead(_ pid: UInt64) -> Bool {
        guard let pid = pid_t(exactly: pid), pid > 0 else { return true }
        return kill(pid, 0) != 0 && errno == ESRCH
    }
}
