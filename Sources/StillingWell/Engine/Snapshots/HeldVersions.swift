// Keeps versions that are held for long in memory instead of the file.
//
// LMDB reuses no page freed since the oldest reader began, whether that reader needs it or not: one held version costs
// 7 to 10 pages of file per commit. So a mapping with a reader that lies far behind is retired, and its readers keep
// nothing in the file any more. A separate LMDB reader (`trail`) then follows the newest version. Before it advances,
// pages freed meanwhile are copied in the retired mapping, each at most once. The cost of a held version is bounded by
// the file's size at that time, in memory of the process that holds it.
//
// The upkeep thread of each store that the process has opened at this path calls `tend`, one at a time. While upkeep
// does not run, or is not woken by commits, writers call it.
import CStillingWellLMDB
import Glibc
import Logging
import StillingWellSync
import Synchronization

/// Unchecked because `lock` guards all mutable state except the atomics.
final class HeldVersions: @unchecked Sendable {
    /// Versions that a reader may lie behind before its mapping is retired: the lower bound, in a large file up to the
    /// upper bound.
    static let patienceVersions: ClosedRange<UInt64> = 16...256
    /// Pages of the file per version that a reader may lie behind. Each commit of that lag keeps 7 to 10 freed pages in
    /// the file, so at this limit they are a sixth to a quarter of it.
    private static let pagesPerVersion = 40
    /// Time in ns for which a version is held before its mapping is retired, if it lies 256 versions behind or more. At
    /// n < 256 versions, n / 256 of that time. Tests set 0. A slow observer can lie hundreds of versions behind for
    /// milliseconds. Retiring mappings for it reduced the commits of a continuous writer by up to four fifths. If
    /// commits are rare, copying takes little time.
    let patienceNs = Atomic<Int64>(50_000_000)

    private let environment: OpaquePointer
    private let page: SharedPage
    private let pins: PinList
    private let directory: String
    private let lock = TracedMutex("held versions")
    private var retired: [ReadMap] = []
    /// LMDB read transactions: `trail` keeps pages in the file until they are copied, `spare` is for the next call.
    private var trail: LMDBTransaction?
    private var spare: LMDBTransaction?
    private var hasWarned = false
    /// Memory used by copies of pages, in bytes.
    let copiedBytes = Atomic<Int>(0)

    init(_ environment: OpaquePointer, _ page: SharedPage, _ pins: PinList, _ directory: String) {
        (self.environment, self.page, self.pins, self.directory) = (environment, page, pins, directory)
    }

    /// Retires the mapping of a version that is held for long, and copies pages freed since the last call.
    /// - Parameters:
    ///   - newest: the caller's version.
    ///   - current: returns the mapping of new snapshots.
    ///   - replace: gives new snapshots another mapping.
    func tend(newest: UInt64, current: () -> ReadMap, replace: () throws -> Void) {
        let problem = lock.withLock { () -> String? in
            let map = current()
            var problem: String?
            if map.isApart, let oldest = pins.oldest(readBy: map), isOverdue(oldest, newest) {
                problem = retire(map, current, replace)
            }
            if !retired.isEmpty { problem = turn(current) ?? problem }
            if problem == nil || hasWarned { return nil }
            hasWarned = true
            return problem
        }
        // The logger may be code of the application, so it is called without the lock.
        guard let problem else { return }
        Logger(label: "stillingwell").warning("held versions stay in the file of \(directory): \(problem)")
    }

    /// Moves a reader without a version from a retired mapping to the current one. Any thread.
    func leave(_ reader: SnapshotReader, for current: () -> ReadMap) {
        lock.withLock {
            let next = current()
            _ = reader.leave(reader.map, for: next)
            drop(for: next)
        }
    }

    // MARK: With the lock

    private func isOverdue(_ oldest: (version: UInt64, sinceNs: Int64), _ newest: UInt64) -> Bool {
        let behind = newest - min(oldest.version, newest)
        if behind < Self.patienceVersions.lowerBound { return false }
        if behind < Self.patienceVersions.upperBound {
            var info = MDB_envinfo()
            mdb_env_info(environment, &info)
            if behind < UInt64(info.me_last_pgno / Self.pagesPerVersion) { return false }
        }
        let heldNs = monotonicNs(CLOCK_MONOTONIC_COARSE) - oldest.sinceNs
        let most = Self.patienceVersions.upperBound
        return heldNs >= patienceNs.load(ordering: .relaxed) / Int64(most) * Int64(min(behind, most))
    }

    /// - Returns: the failure, or nil.
    private func turn(_ current: () -> ReadMap) -> String? {
        var problem: String?
        do throws(EngineFailure) {
            try follow()
        } catch {
            // The next call begins where this one did, so nothing is lost.
            problem = "\(error.error("copy pages", path: directory) { _ in nil })"
        }
        drop(for: current())
        return problem
    }

    /// Releases mappings without readers.
    private func drop(for next: ReadMap) {
        retired.removeAll { pins.leave($0, for: next) }
        copiedBytes.store(retired.reduce(0) { $0 + $1.copiedPages } * MappedPage.bytes, ordering: .relaxed)
        if retired.isEmpty, let trail { mdb_txn_reset(trail) }
    }

    /// - Returns: the failure, or nil.
    private func retire(_ map: ReadMap, _ current: () -> ReadMap, _ replace: () throws -> Void) -> String? {
        do {
            // From here on a snapshot begins in the old mapping only if its reader already holds its lock (`renew`).
            try replace()
        } catch {
            return "\(error)"
        }
        // Waits for those locks. Readers with a version there are still pinned, so no page of theirs was reused. There
        // may be none left.
        guard let oldest = pins.oldestPinned(by: map) else {
            _ = pins.leave(map, for: current())
            return nil
        }
        guard map.makePrivate() else { return "no memory can be reserved for copies of its pages" }
        map.passed = oldest
        retired.append(map)
        return nil
    }

    /// Copies pages freed since the last call, and advances.
    private func follow() throws(EngineFailure) {
        let next = try LMDB.beginReading(environment, again: spare, at: page)
        spare = next
        let newest = LMDB.number(of: next)
        let first = retired.map(\.passed).min() ?? newest
        do throws(EngineFailure) {
            try LMDB.scan(next, LMDB.freePages, from: first + 1) { (transaction, pages) throws(EngineFailure) in
                let maps = retired.filter { $0.passed < transaction }
                try LMDB.forEachPage(in: pages) { page in for map in maps { map.copy(page) } }
                return true
            }
        } catch {
            mdb_txn_reset(next)
            throw error
        }
        for map in retired {
            map.passed = newest
            pins.unpin(map)
        }
        if let trail { mdb_txn_reset(trail) }
        (trail, spare) = (next, trail)
    }

    /// Ends the transactions. Called when the storage is closed and has no readers.
    func end() {
        for transaction in [trail, spare] { if let transaction { mdb_txn_abort(transaction) } }
    }
}
