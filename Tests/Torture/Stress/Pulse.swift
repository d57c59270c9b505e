// An observer of the ledger, on its own connection and thread. Every commit changes the ledger, so the versions of its
// callbacks show how far upkeep is, the thread of the store that keeps query results current. `told` is atomic.
// `connection` and `token` belong to the observer's thread.
import StillingWell
import Synchronization

final class Pulse: @unchecked Sendable {
    private let place = ThreadPlace("pulse")
    private var connection: Connection?
    private var token: NotificationToken?
    private let told = Atomic<Int>(0)

    /// The newest version of its callbacks.
    var version: Int { told.load(ordering: .acquiring) }

    func start(_ load: Load) {
        _ = place.performAndWait(seconds: Limits.stallS) { [self] in
            load.expectNoError("pulse") {
                let opened = try place.connect(load.store)
                connection = opened
                token = try opened.objects(Ledger.self).observe { [self] change in
                    called(change, opened.version, load)
                }
            }
        }
    }

    private func called(_ change: ResultsChange<Ledger>, _ version: UInt64, _ load: Load) {
        load.tally.ledgerCallbacks.add()
        let before = told.exchange(Int(version), ordering: .acquiringAndReleasing)
        guard case .update(let lines, _) = change else { return }
        load.verdict.expect(.i3, version > before, "pulse", "version \(version) after \(before)")
        let sum = lines.reduce(0) { $0 + $1.commits }
        load.verdict.expect(.i2, sum == Int(version), "pulse", "at version \(version) the ledger adds up to \(sum)")
    }

    /// Waits until upkeep has delivered `version`.
    /// - Returns: whether it did within `seconds`.
    func wait(for version: Int, seconds: Double) -> Bool {
        let deadlineNs = monotonicNs() + Int64(seconds * 1e9)
        while self.version < version {
            if monotonicNs() > deadlineNs { return false }
            sleep(us: 200)
        }
        return true
    }

    func stop() {
        _ = place.performAndWait(seconds: Limits.stallS) { [self] in
            token?.invalidate()
            token = nil
            connection = nil
        }
        place.stop()
    }
}

enum Limits {
    /// Time in seconds without a sign of life that counts as a stall.
    static let stallS = 240.0
    /// Interval in seconds at which upkeep polls for commits that did not wake it.
    static let pollS = 1.0
    /// Seconds that a busy machine may add to the poll period without a violation.
    static let slackS = 60.0
    /// CPU time of upkeep in one poll period with slack, from which it counts as working.
    static let busyNs: Int64 = 1_000_000_000
    /// Anonymous descriptors that system libraries open at first use and keep: an epoll, an eventfd and timers for
    /// queues and run loops. A leak per connection would leave many more.
    static let filesOfTheSystem = 12
    /// Heap bytes per commit above which a run fails.
    static let heapBytesPerCommit = 1_000
    /// Upper bound in bytes for the normal change of the heap between two quarters of a run. It changes with the
    /// observers' rows, waiting mail and frozen rows.
    static let heapSwingBytes = 20_000_000
    /// Number of commits over which `heapBytesPerCommit` adds up to `heapSwingBytes`.
    static let fewestCommitsOfALine = heapSwingBytes / heapBytesPerCommit
    /// Returns the bytes that the file may take.
    /// - Parameters:
    ///   - heldCommits: number of commits since the oldest version that is kept.
    ///   - pinnedCommits: number of commits since the oldest version that the file keeps: upkeep's own, and those of
    ///     foreign writers and forked children.
    static func fileBytes(heldCommits: Int, pinnedCommits: Int) -> Int {
        let beforeFound = min(heldCommits, heldVersionCommits)
        return fileBaseBytes + fileBytesPerPinnedCommit * (max(pinnedCommits, beforeFound) + idleUpkeepCommits)
            + fileBytesPerHeldCommit * heldCommits
    }

    /// Bytes for the rows and the log, which take a few MB, and for short reads that are not counted. Such a read may
    /// be held up by a busy machine, or may belong to an evaluation whose observer has ended.
    static let fileBaseBytes = 64 << 20
    /// Interval in commits at which upkeep without observers can be woken (`SharedPage.Bell.slowInterval`).
    static let idleUpkeepCommits = 64
    /// Interval in commits at which the versions of dead processes are released (`Storage.deadReaderInterval`).
    static let deadReaderCommits = 256
    /// Number of commits after which a held version is assumed to be in memory: 256 until the file's size no longer
    /// delays it, up to 64 until the next check, and room for a busy machine.
    static let heldVersionCommits = 1_024
    /// Number of commits after which the file's size no longer keeps a held version in the file
    /// (`HeldVersions.patienceVersions.upperBound`).
    static let commitsOfLongHold = 256
    /// Bytes that a commit may add to the file once the held version is in memory.
    static let fileBytesPerHeldCommit = 1 << 10
    /// Bytes that a commit may add while a version is held in the file: each page that it writes. That is so for
    /// versions of stopped processes, and before a version is moved to memory. Measured over thousands of commits:
    /// - 5 pages (20.4 KB) for one row of a small table: its leaf, the log's leaf and branch, and leaves of the table
    ///   of tables and of the free list. Each further table takes one page more: 6 pages (24.8 KB) with the ledger.
    /// - 8.7 pages (35.4 to 35.9 KB) for the mean commit of a run. Many rows are inserted or deleted, which changes
    ///   the primary index and the page of counters. One commit in five writes boards, with three tables and five
    ///   indexes. About one in 270 changes 200 to 600 rows of the large table.
    /// 10 pages leave a seventh for periods with more large commits than the mean.
    static let fileBytesPerPinnedCommit = 10 * 4 << 10
}
