// Free space of a store, and the space that a flush would free: pages kept for the last flush count as used, and a
// nearly full store would refuse writes that it has room for. Pure functions, except for reading the table of free
// pages.
import CStillingWellLMDB

struct FlushRoom {
    /// Kept pages may be at most 1 / `parts` of the free pages. With an eighth, a long list of changes did not find
    /// enough adjacent pages among many kept ones.
    private static let parts = 64
    /// With at least this number of unused pages behind the file's last page, the table of free pages is not read.
    private static let plentyPages = 1 << 16
    /// Number of pages that a commit is assumed to free at least.
    private static let leastPerCommit = 16

    /// Number of pages that can be written.
    private var free: Int
    /// Number of pages that a flush would free.
    private var kept = 0
    /// Number of commits since the oldest kept version.
    private let commits: Int
    private let newest: UInt64
    private let lastPage: Int

    /// - Parameters:
    ///   - reader: a reader at the newest version.
    ///   - oldest: the oldest transaction held for flushes.
    init(_ reader: FlushReader, _ environment: OpaquePointer, keptSince oldest: UInt64) throws(EngineFailure) {
        var info = MDB_envinfo()
        var status = MDB_stat()
        mdb_env_info(environment, &info)
        mdb_env_stat(environment, &status)
        newest = reader.number
        lastPage = info.me_last_pgno
        commits = Int(newest - min(oldest, newest))
        free = max(0, info.me_mapsize / max(1, Int(status.ms_psize)) - lastPage - 1)
        if free >= Self.plentyPages { return }
        var (usable, kept) = (0, 0)
        try LMDB.scan(reader.transaction, LMDB.freePages) { (transaction, pages) throws(EngineFailure) in
            guard pages.count >= 8 else { throw EngineFailure(code: MDB_CORRUPTED) }
            let count = max(0, min(pages.loadUnaligned(as: Int.self), pages.count / 8 - 1))
            if transaction < oldest { usable += count } else { kept += count }
            return true
        }
        free += usable
        self.kept = kept
    }

    /// Whether a flush is due.
    var isTight: Bool { commits > 0 && kept > free / Self.parts }

    /// Counts the kept pages as free, after a flush.
    mutating func giveBack() { (free, kept) = (free + kept, 0) }

    /// Transaction and last page up to which the room need not be checked again.
    var isEnoughUntil: (transaction: UInt64, lastPage: Int) {
        let pages = max(0, free / Self.parts - kept)
        let perCommit = max(Self.leastPerCommit, commits > 0 ? 2 * kept / commits : 0)
        return (newest + UInt64(pages / perCommit), lastPage + pages)
    }
}
