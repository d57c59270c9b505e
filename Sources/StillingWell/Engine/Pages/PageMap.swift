// Where a store's file is mapped, and whether its pages are of the format that `MappedPage` reads. Found once by whoever asks first;
// both are one number each, for any thread.
import CStillingWellEngine
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc
import Synchronization

/// Unchecked because of the environment's handle, which is constant.
final class PageMap: @unchecked Sendable {
    let environment: OpaquePointer
    private let known = Atomic(true)
    private let begin = Atomic<UInt>(0)
    /// What the map is guarded as; negative where it is not.
    private let guarded = Atomic<Int32>(-1)

    init(_ environment: OpaquePointer) { self.environment = environment }

    /// Makes what is missing at the end of the file read as zeros, while the process has it open: readers find damage there, where
    /// it would be a bus error. Before anybody else has the store; not for one that is written through its map.
    /// - Parameter first: another map of the same file, which is said to be cut when this one is.
    func guardEnd(with first: PageMap? = nil) {
        let place = first?.guarded.load(ordering: .relaxed) ?? -1
        guard let base, first == nil || place >= 0 else { return }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        guarded.store(cp_guard_map(base, UInt64(info.me_mapsize), place), ordering: .relaxed)
    }

    /// Finds where the file is mapped.
    func find() throws(EngineFailure) {
        let transaction = try LMDB.beginReading(environment)
        defer { mdb_txn_abort(transaction) }
        // The tree of tables lies in the map, like all that is read.
        let cursor = try LMDB.openCursor(transaction, LMDB.tables)
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        guard try LMDB.found(engine_cursor_get(cursor, &key, &value, MDB_FIRST)), let entry = value.mv_data else {
            return
        }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        if let base = address(holding: entry, lastPage: info.me_last_pgno) { engine_map(environment, base) }
    }

    /// Where the file's first page is mapped; nil before that was asked for, and where its format is not known.
    var base: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: begin.load(ordering: .relaxed)) }

    /// Whether somebody has read zeros there. What was read before, and checked, may have become zeros too.
    var isCut: Bool { cp_map_is_cut(guarded.load(ordering: .relaxed)) }

    func noteCut() { cp_note_cut(guarded.load(ordering: .relaxed)) }

    /// Before the file is closed.
    func endGuard() { cp_unguard_map(guarded.exchange(-1, ordering: .relaxed)) }

    /// False once the file was found to be of another format.
    var isKnown: Bool { known.load(ordering: .relaxed) }

    /// Where the file is mapped, given an address in one of its pages; nil where its format is not known. The first answer
    /// stays: the engine maps a file once.
    func address(holding address: UnsafeRawPointer, lastPage: Int) -> UnsafeRawPointer? {
        if let base { return base }
        let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(MappedPage.bytes - 1))
        guard let page, case let number = page.load(as: UInt64.self), number <= UInt64(lastPage),
            case let map = page - Int(number) * MappedPage.bytes,
            // Nothing may be mapped there, where the page does not say its own number.
            msync(UnsafeMutableRawPointer(mutating: map), MappedPage.bytes, MS_ASYNC) == 0, MappedPage.isFormat(map)
        else {
            known.store(false, ordering: .relaxed)
            return nil
        }
        begin.store(UInt(bitPattern: map), ordering: .relaxed)
        return map
    }
}
