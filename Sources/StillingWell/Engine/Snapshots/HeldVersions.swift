// Versions that are held for long, kept in memory instead of the file.
//
// The engine uses no page again that was freed since the oldest reader began, whether that reader needs it or not: one held
// version costs seven pages of file per commit. So a mapping by which somebody reads a version that lies far behind is
// retired. From then on its readers keep nothing in the file; a reader of this type's own goes after the newest version, and
// before it moves on, the pages that were freed meanwhile are copied in the retired mapping. Each at most once: what a held
// version costs is bounded by the file's size when it was retired, in memory of the process that holds it.
//
// The upkeep of every store that the process has opened at this path comes by, one at a time; where none runs, who writes.
import CStillingWellLMDB
import Glibc
import Logging
import StillingWellSync
import Synchronization

/// Unchecked because `lock` guards everything but the count.
final class HeldVersions: @unchecked Sendable {
    /// How far a version lies behind before its mapping is retired: more in a large file, of which it then keeps a smaller part.
    static let patienceVersions: ClosedRange<UInt64> = 16...256
    /// A commit keeps seven to ten pages, which may be a quarter of the file.
    private static let pagesPerVersion = 40
    /// How long it is held before that: at most, and where fewer versions came meanwhile as much less; tests do not wait. An observer
    /// that commits outrun lies behind by hundreds of versions, for milliseconds: one mapping after the other for it took up to four
    /// fifths of the commits of a writer that never pauses. Where commits are rare, copies for it are a small part of the time.
    let patienceNs = Atomic<Int64>(50_000_000)

    private let environment: OpaquePointer
    private let page: SharedPage
    private let pins: PinList
    private let directory: String
    private let lock = TracedMutex("held versions")
    private var retired: [ReadMap] = []
    /// Read transactions of the engine: one holds what has not been copied, the other is for the next turn.
    private var trail: LMDBTransaction?
    private var spare: LMDBTransaction?
    private var hasWarned = false
    /// Memory that copies of pages take.
    let copiedBytes = Atomic<Int>(0)

    init(_ environment: OpaquePointer, _ page: SharedPage, _ pins: PinList, _ directory: String) {
        (self.environment, self.page, self.pins, self.directory) = (environment, page, pins, directory)
    }

    /// Looks for versions that are held for long, and copies what is freed of them.
    /// - Parameters:
    ///   - newest: the version that the caller stands at.
    ///   - current: what snapshots read by.
    ///   - replace: has those to come read by another mapping.
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
        // The logger is somebody else's.
        guard let problem else { return }
        Logger(label: "stillingwell").warning("held versions stay in the file of \(directory): \(problem)")
    }

    /// Has a reader that holds nothing any more read by another mapping than a retired one. Any thread.
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

    /// - Returns: why not all could be done.
    private func turn(_ current: () -> ReadMap) -> String? {
        var problem: String?
        do throws(EngineFailure) {
            try follow()
        } catch {
            // Nothing is lost: the next turn begins where this one has.
            problem = "\(error.error("copy pages", path: directory) { _ in nil })"
        }
        drop(for: current())
        return problem
    }

    /// Lets go of the mappings that nobody reads by any more.
    private func drop(for next: ReadMap) {
        retired.removeAll { pins.leave($0, for: next) }
        copiedBytes.store(retired.reduce(0) { $0 + $1.copiedPages } * MappedPage.bytes, ordering: .relaxed)
        if retired.isEmpty, let trail { mdb_txn_reset(trail) }
    }

    /// - Returns: why it could not be done.
    private func retire(_ map: ReadMap, _ current: () -> ReadMap, _ replace: () throws -> Void) -> String? {
        do {
            // From here on no snapshot begins in the old one.
            try replace()
        } catch {
            return "\(error)"
        }
        // Those that hold something there are pinned still, so none of their pages has been used again. There may be none any more.
        guard let oldest = pins.oldestPinned(by: map) else {
            _ = pins.leave(map, for: current())
            return nil
        }
        guard map.makePrivate() else { return "no memory can be reserved for copies of its pages" }
        map.passed = oldest
        retired.append(map)
        return nil
    }

    /// Copies what was freed since the last turn, and moves on.
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

    /// Ends its transactions. When the storage goes, and with it whoever read.
    func end() {
        for transaction in [trail, spare] { if let transaction { mdb_txn_abort(transaction) } }
    }
}
