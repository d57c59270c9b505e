// How much room a store has for what is written next, and how much more a flush would give: pages that are kept for the sake of the last
// one count as used, and a store that is nearly full would refuse what it has room for. Pure, but for reading the table of free pages.
import CStillingWellLMDB

struct FlushRoom {
    /// What is kept may be one part of so many of what is free. A write block that needs the rest is refused; and one that needs pages side
    /// by side, as a long list of changes does, does not find them among many that are kept: with an eighth it did not.
    private static let parts = 64
    /// With so many pages behind the file's last one, nobody looks what is free before.
    private static let plentyPages = 1 << 16
    /// What a small commit frees, or more.
    private static let leastPerCommit = 16

    /// Pages that can be written.
    private var free: Int
    /// Pages that a flush would add.
    private var kept = 0
    /// Between what is kept and now.
    private let commits: Int
    private let newest: UInt64
    private let lastPage: Int

    /// - Parameters:
    ///   - reader: reads the newest version.
    ///   - oldest: the oldest transaction that is read for the sake of flushes.
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

    /// Once a flush has given back what was kept.
    mutating func giveBack() { (free, kept) = (free + kept, 0) }

    /// Up to when that need not be asked again.
    var isEnoughUntil: (transaction: UInt64, lastPage: Int) {
        let pages = max(0, free / Self.parts - kept)
        let perCommit = max(Self.leastPerCommit, commits > 0 ? 2 * kept / commits : 0)
        return (newest + UInt64(pages / perCommit), lastPage + pages)
    }
}
