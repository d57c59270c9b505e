// An observer of the ledger, on a connection and a thread of its own: it hears of every commit, whoever made it, so it
// tells how far upkeep is. `version` is atomic; `connection` and `token` belong to the thread.
import LiveStore
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
    /// How many times longer a run has to be for everything to have come up in it.
    #if SANITIZING
        static let patience = 10.0
    #else
        static let patience = 1.0
    #endif
    /// Nothing may stand still for longer. No load that a machine bears takes as long; a hang does.
    static let stallS = 240.0
    /// Upkeep looks for silent commits once a second.
    static let pollS = 1.0
    /// What a busy machine may add to that before it counts as a violation.
    static let slackS = 60.0
    /// Descriptors that the system's libraries open once and keep: for queues, timers, random numbers.
    static let filesOfTheSystem = 12
    /// A leak of a kilobyte a commit; what a heap that many threads use is in pieces changes by less over so many commits.
    static let heapBytesPerCommit = 1_000
    static let fewestCommitsOfALine = 20_000
    static let fileBaseBytes = 64 << 20
    /// While a version is held no page that a commit replaces can be used again, so a commit costs as many pages of 4 KB as
    /// it writes. `livestore-stress pin` measures, over thousands of commits:
    /// - 5 pages (20.4 KB) for one row of a small table: its leaf, the log's leaf and branch, the leaf of the table of
    ///   tables, the free list's. Each further table is a page more: with the ledger 6 (24.8 KB).
    /// - 8.7 pages (35.4 to 35.9 KB) for the mean commit of a run. Many rows come or go, which takes the primary index and,
    ///   in one page for all tables, the counters; one commit in five writes boards, which are three tables with their
    ///   lists, and five indexes; one in 240 rewrites most of the large table.
    /// 10 pages leave a seventh for a stretch in which more of the large commits fall than in the mean.
    static let fileBytesPerPinnedCommit = 10 * 4 << 10
}
