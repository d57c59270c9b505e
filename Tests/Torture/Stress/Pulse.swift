// An observer of the ledger, on a connection and a thread of its own: it hears of every commit, whoever made it, so it
// tells how far upkeep is. `version` is atomic; `connection` and `token` belong to the thread.
import StillingWell
import Synchronization

final class Pulse: @unchecked Sendable {
    private let place = ThreadPlace("pulse")
    private var connection: Connection?
    private var token: NotificationToken?
    private let told = Atomic<Int>(0)

    /// The newest version it was called at.
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

    /// Waits until upkeep has brought `version`.
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
    /// Nothing may stand still for longer. No load that a machine bears takes as long; a hang does.
    static let stallS = 240.0
    /// Upkeep looks for silent commits once a second.
    static let pollS = 1.0
    /// What a busy machine may add to that before it counts as a violation.
    static let slackS = 60.0
    /// CPU time of upkeep, in the kernel's ticks, from which it has worked in a period of that length. Looking once a second takes
    /// less than a tenth of it.
    static let busyTicks = 100
    /// What the system's libraries open at their first use and keep, all without a name: an epoll, an eventfd and a timer
    /// or two, for the queues and for run loops. Six to ten stay after a run, however long; twelve are those of four. A run
    /// opens hundreds of connections, so one that each of them left open would be far more.
    static let filesOfTheSystem = 12
    /// A leak of a kilobyte a commit.
    static let heapBytesPerCommit = 1_000
    /// By less the heap of a run goes up and down with what its observers show, with mail that waits and with rows that are
    /// frozen, from one quarter of it to another.
    static let heapSwingBytes = 20_000_000
    /// From so many commits on the leak is more than that.
    static let fewestCommitsOfALine = heapSwingBytes / heapBytesPerCommit
    /// The bytes that the file may take.
    /// - Parameters:
    ///   - heldCommits: for how many commits somebody has kept a version.
    ///   - pinnedCommits: the same of those that the file keeps for as long: upkeep's own, which looks for the others, and those of
    ///     processes that are stopped or were killed.
    static func fileBytes(heldCommits: Int, pinnedCommits: Int) -> Int {
        let beforeFound = min(heldCommits, heldVersionCommits)
        return fileBaseBytes + fileBytesPerPinnedCommit * (max(pinnedCommits, beforeFound) + idleUpkeepCommits)
            + fileBytesPerHeldCommit * heldCommits
    }

    /// What is stored and the log of it, which are a few MB; and reads that nobody counts because they are over at once:
    /// one version in a thread that a busy machine holds up in it, an evaluation whose observer has gone meanwhile.
    static let fileBaseBytes = 64 << 20
    /// A store through which nobody observes hears of every 64th commit, and lets go of its version then
    /// (`SharedPage.Bell.slowInterval`). Sites keep such stores open.
    static let idleUpkeepCommits = 64
    /// Every so many commits somebody looks for readers whose process is dead (`Storage.deadReaderInterval`).
    static let deadReaderCommits = 256
    /// So many commits after a version is held in memory at most what was freed meanwhile is let go of: 64 until somebody looks, twice; and
    /// room for a busy machine.
    static let heldVersionCommits = 1_024
    /// So far a version lies behind before memory holds it (`HeldVersions.patienceVersions.upperBound`).
    static let commitsOfLongHold = 256
    /// What a commit may then add to the file.
    static let fileBytesPerHeldCommit = 1 << 10
    /// While a version is held by a process that is stopped, and before it is found to be held, no page that a commit replaces can be used again, so a commit costs as many pages of 4 KB as
    /// it writes. Measured over thousands of commits:
    /// - 5 pages (20.4 KB) for one row of a small table: its leaf, the log's leaf and branch, the leaf of the table of
    ///   tables, the free list's. Each further table is a page more: with the ledger 6 (24.8 KB).
    /// - 8.7 pages (35.4 to 35.9 KB) for the mean commit of a run. Many rows come or go, which takes the primary index and,
    ///   in one page for all tables, the counters; one commit in five writes boards, which are three tables with their
    ///   lists, and five indexes; one in 240 rewrites most of the large table.
    /// 10 pages leave a seventh for a stretch in which more of the large commits fall than in the mean.
    static let fileBytesPerPinnedCommit = 10 * 4 << 10
}
