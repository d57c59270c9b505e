// Address at which a store's file is mapped, and whether its pages have the format that `MappedPage` reads. Both are
// found once and held in atomics, readable from any thread.
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
    /// Handle of the guard (`cp_guard_map`), or negative if the map is not guarded.
    private let guarded = Atomic<Int32>(-1)

    init(_ environment: OpaquePointer) { self.environment = environment }

    /// Makes reads beyond the end of the file return zeros instead of raising SIGBUS; engine calls fail there instead.
    /// Does nothing if `base` is nil, `first` is not guarded, or too many maps are guarded.
    /// - Parameter first: another map of the same file, which is marked as cut when this one is.
    func guardEnd(with first: PageMap? = nil) {
        let place = first?.guarded.load(ordering: .relaxed) ?? -1
        guard let base, first == nil || place >= 0 else { return }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        guarded.store(cp_guard_map(base, UInt64(info.me_mapsize), place), ordering: .relaxed)
    }

    /// Finds the address at which the file is mapped.
    func find() throws(EngineFailure) {
        let transaction = try LMDB.beginReading(environment)
        defer { mdb_txn_abort(transaction) }
        // The tree of tables lies in the map, as everything that is read.
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

    /// Address of the file's first page, or nil if it was not found yet or the format is unknown.
    var base: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: begin.load(ordering: .relaxed)) }

    /// Whether a page beyond the end of the file was read as zeros, or `noteCut` was called, for this map or for one
    /// guarded with it as `first`. Pages checked before may be zeros too. False for a map that was guarded with a
    /// `first` one.
    var isCut: Bool { cp_map_is_cut(guarded.load(ordering: .relaxed)) }

    func noteCut() { cp_note_cut(guarded.load(ordering: .relaxed)) }

    /// Ends the guard. Called before the file is closed.
    func endGuard() { cp_unguard_map(guarded.exchange(-1, ordering: .relaxed)) }

    /// Whether the file may have a known format. False once another format was found.
    var isKnown: Bool { known.load(ordering: .relaxed) }

    /// Computes the address of the map from an address in one of its pages, or returns nil if the format is unknown.
    /// The first result stays valid, because LMDB maps a file once.
    func address(holding address: UnsafeRawPointer, lastPage: Int) -> UnsafeRawPointer? {
        if let base { return base }
        let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(MappedPage.bytes - 1))
        guard let page, case let number = page.load(as: UInt64.self), number <= UInt64(lastPage),
            case let map = page - Int(number) * MappedPage.bytes,
            // If the page does not hold its own number, the computed address may not be mapped at all.
            msync(UnsafeMutableRawPointer(mutating: map), MappedPage.bytes, MS_ASYNC) == 0, MappedPage.isFormat(map)
        else {
            known.store(false, ordering: .relaxed)
            return nil
        }
        begin.store(UInt(bitPattern: map), ordering: .relaxed)
        return map
    }
}
