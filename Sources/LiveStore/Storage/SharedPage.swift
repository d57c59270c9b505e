// The page that every process of a store maps: the write lock, the bell, and one slot per process that follows the
// change log. It holds no data: whoever opens the store alone makes it anew.
//
// Guards: `mutex` and `gate` are robust and process-shared, used by WriteLock alone. `bell`, `sleepers`, `starving`
// and the slots are atomics. A slot is claimed by compare-and-exchange of its pid.
import CPlatform
import Glibc

final class SharedPage: @unchecked Sendable {
    private struct Layout {
        static let magic: UInt64 = 0x4c53_5061_6765_0001  // "LSPage", layout 1
        static let magicOffset = 0
        static let bell = 8
        static let sleepers = 12
        static let starving = 16
        static let slowBell = 20
        static let slowSleepers = 24
        static let mutex = 64
        static let gate = 192
        static let slots = 512
        static let slotStride = 32
        static let slotCount = 96
        static let bytes = 4096
    }

    /// A follower's version that holds nothing back.
    static let noVersion = UInt64.max

    private let base: UnsafeMutableRawPointer
    private let file: Int32
    /// The folder, locked while this process opens the store; −1 afterwards.
    private var folder: Int32
    /// True when no other process had the store open: what a killed machine left behind has been wiped.
    let wasAlone: Bool

    /// Maps the page of the store in `directory`, and keeps other processes from opening it until `admitOthers`.
    ///
    /// Two locks: the folder's is held by the one process that opens, the page's is shared by all that have it open.
    /// With one alone, a process that waits while another one is killed in the middle of opening would take the page for
    /// made, and find there what a crashed machine has left.
    init(directory: String) throws(StoreError) {
        let path = directory + "/shared"
        var files: [Int32] = []
        func failure(_ what: String) -> StoreError {
            let reason = "\(what): \(String(cString: strerror(errno)))"
            for file in files { close(file) }
            return .cannotOpen(path: path, reason: reason)
        }
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("open folder") }
        files.append(folder)
        guard flock(folder, LOCK_EX) == 0 else { throw failure("lock folder") }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure("open") }
        files.append(file)
        let alone = flock(file, LOCK_EX | LOCK_NB) == 0
        if !alone, flock(file, LOCK_SH) != 0 { throw failure("lock") }
        guard ftruncate(file, off_t(Layout.bytes)) == 0,
            let base = mmap(nil, Layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED
        else { throw failure("map") }
        self.base = base
        self.file = file
        self.folder = folder
        self.wasAlone = alone
        if alone {
            memset(base, 0, Layout.bytes)
            cp_robust_mutex_init(mutex)
            cp_robust_mutex_init(gate)
            base.storeBytes(of: Layout.magic, toByteOffset: Layout.magicOffset, as: UInt64.self)
        }
        guard base.load(fromByteOffset: Layout.magicOffset, as: UInt64.self) == Layout.magic else {
            // What is mapped and open goes with this instance: all of it is initialised.
            throw .cannotOpen(
                path: path, reason: "another version of the library has it open; close that process first")
        }
    }

    /// Lets other processes in, once this one has set the store up. Called once, before other threads have the page.
    func admitOthers() {
        flock(file, LOCK_SH)
        close(folder)
        folder = -1
    }

    /// Whether no other process has the store open now. Keeps others out until the page is closed.
    func isAloneAgain() -> Bool { flock(file, LOCK_EX | LOCK_NB) == 0 }

    deinit {
        munmap(base, Layout.bytes)
        close(file)
        if folder >= 0 { close(folder) }
    }

    var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        (base + Layout.mutex).assumingMemoryBound(to: pthread_mutex_t.self)
    }
    var gate: UnsafeMutablePointer<pthread_mutex_t> {
        (base + Layout.gate).assumingMemoryBound(to: pthread_mutex_t.self)
    }
    private func word(_ offset: Int) -> UnsafeMutablePointer<UInt32> {
        (base + offset).assumingMemoryBound(to: UInt32.self)
    }

    /// How many writers wait at the gate.
    var starving: UnsafeMutablePointer<UInt32> { word(Layout.starving) }

    // MARK: The bell

    /// Counts commits (and local wake-ups). A reader that starts a snapshot compares it before and after.
    var bellCount: UInt32 { count(.everyCommit) }

    /// Who rings less often: `slow` is for processes in which nobody observes. They only have to let go of old versions.
    enum Bell {
        case everyCommit, slow

        /// Commits between two rings of the slow bell.
        static let slowInterval: UInt64 = 256
    }

    private func words(_ bell: Bell) -> (count: UnsafeMutablePointer<UInt32>, sleepers: UnsafeMutablePointer<UInt32>) {
        switch bell {
        case .everyCommit: (word(Layout.bell), word(Layout.sleepers))
        case .slow: (word(Layout.slowBell), word(Layout.slowSleepers))
        }
    }

    func count(_ bell: Bell) -> UInt32 { cp_load32(words(bell).count) }

    /// Announces the commit of `version`. Called before the write lock is given back, so that a writer killed right after
    /// its commit is at worst one poll period late.
    func ring(committed version: UInt64) {
        ring(.everyCommit)
        if version % Bell.slowInterval == 0 { ring(.slow) }
    }

    /// Wakes every process's upkeep, whatever it waits for.
    func ringAll() {
        ring(.everyCommit)
        ring(.slow)
    }

    private func ring(_ bell: Bell) {
        let words = words(bell)
        _ = cp_add32(words.count, 1)
        if cp_load32(words.sleepers) != 0 { cp_futex_wake_all(words.count) }
    }

    /// Sleeps until the bell has rung since it read `seen`, or until the time is over.
    func wait(for bell: Bell, since seen: UInt32, timeoutNs: Int64) {
        let words = words(bell)
        _ = cp_add32(words.sleepers, 1)
        _ = cp_futex_wait(words.count, seen, timeoutNs)
        _ = cp_add32(words.sleepers, UInt32.max)
    }

    // MARK: Followers of the change log

    private func slot(_ index: Int) -> (pid: UnsafeMutablePointer<UInt64>, version: UnsafeMutablePointer<UInt64>) {
        let start = (base + Layout.slots + index * Layout.slotStride).assumingMemoryBound(to: UInt64.self)
        return (start, start + 1)
    }

    /// Takes a slot for this process; nil when all are taken, and then the log's hard cap alone protects this
    /// process, which falls back to comparing snapshots.
    func claimSlot() -> Int? {
        let pid = UInt64(getpid())
        for index in 0..<Layout.slotCount {
            let slot = slot(index)
            let owner = cp_load64(slot.pid)
            guard owner == 0 || Self.isDead(owner) else { continue }
            if cp_exchange_if_equal64(slot.pid, owner, pid) {
                cp_store64(slot.version, Self.noVersion)
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

    /// The oldest version a living follower still stands at. Frees the slots of dead processes.
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

    private static func isDead(_ pid: UInt64) -> Bool { kill(pid_t(pid), 0) != 0 && errno == ESRCH }
}
