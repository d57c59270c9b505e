// A mapping of the store's file for snapshots, mostly separate from the mapping for writing.
//
// A snapshot that is held for long would keep all pages in the file that were freed since. So the mapping that it reads
// is retired. New snapshots get another mapping. The retired one becomes private: before a page of the file is reused,
// the page is copied at its address, so readers keep their addresses. `HeldVersions` does this.
import CStillingWellEngine
import CStillingWellLMDB
import CStillingWellPlatform
import Glibc
import Synchronization

/// Unchecked because of the environment's handle, which is constant, and of the state of a retired mapping.
final class ReadMap: @unchecked Sendable {
    let environment: OpaquePointer
    let pageMap: PageMap
    /// Whether the mapping is another one than that for writing. Only then can it become private.
    let isApart: Bool
    /// Whether new snapshots use another mapping. Set once.
    let isRetired = Atomic(false)

    // State of a retired mapping, guarded by the lock of `HeldVersions`.
    private var pageCount = 0
    private var copied: [UInt64] = []
    private(set) var copiedPages = 0
    /// Last transaction whose freed pages have been copied.
    var passed: UInt64 = 0

    /// The mapping for writing.
    init(of environment: OpaquePointer, _ pageMap: PageMap) {
        (self.environment, self.pageMap) = (environment, pageMap)
        isApart = false
    }

    /// Makes another mapping of the file of an open store. Its tables have the same handles.
    /// - Parameter file: identity of the store's file.
    /// - Throws: `StoreError` or `EngineFailure`. The latter's code is `EINVAL` if tables cannot get the same handles.
    ///   It is `ESTALE` if another file is at the path.
    init(
        _ directory: String, mapBytes: Int, tables: [(handle: MDB_dbi, name: String)], _ own: PageMap,
        of file: FileIdentity?
    ) throws {
        // Handles 0 and 1 are LMDB's own tables and do not count.
        let most = (tables.map(\.handle).max() ?? 2) - 1
        environment = try LMDB.makeEnvironment(mapBytes: mapBytes, path: directory, tables: most)
        pageMap = PageMap(environment)
        isApart = true
        let flags = MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD
        var code = engine_open(environment, directory, UInt32(flags), 0)
        if code == 0, let file, try FileIdentity(of: StoreFile.descriptor(environment), directory) != file {
            code = ESTALE
        }
        if code == 0 { code = Self.open(tables, environment) }
        if code != 0 { throw EngineFailure(code: code) }
        try pageMap.find()
        pageMap.guardEnd(with: own)
    }

    private static func open(_ tables: [(handle: MDB_dbi, name: String)], _ environment: OpaquePointer) -> Int32 {
        var transaction: LMDBTransaction?
        let begun = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        if begun != 0 { return begun }
        for (handle, name) in tables.sorted(by: { $0.handle < $1.handle }) {
            var found: MDB_dbi = 0
            var code = engine_open_table(transaction, name, 0, &found)
            if code == 0, found != handle { code = EINVAL }
            if code != 0 {
                mdb_txn_abort(transaction)
                return code
            }
        }
        // The commit keeps the handles.
        return engine_commit(transaction)
    }

    /// The mapping for writing belongs to its storage, which closes it.
    deinit {
        guard isApart else { return }
        pageMap.endGuard()
        engine_close(environment)
    }

    // MARK: Retired

    /// Makes the mapping private, up to the last page that any of its snapshots can have.
    /// - Returns: whether that succeeded.
    func makePrivate() -> Bool {
        guard let base = pageMap.base else { return false }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        var file: mdb_filehandle_t = -1
        guard mdb_env_get_fd(environment, &file) == 0 else { return false }
        let pages = info.me_last_pgno + 1
        // Probes for room first: a failed `mmap` with MAP_FIXED may leave the old mapping unmapped.
        let (access, flags) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE)
        let bytes = pages * MappedPage.bytes
        let probe = mmap(nil, bytes, access, flags, file, 0)
        guard let probe, probe != MAP_FAILED else { return false }
        munmap(probe, bytes)
        guard mmap(UnsafeMutableRawPointer(mutating: base), bytes, access, flags | MAP_FIXED, file, 0) != MAP_FAILED
        else {
            return false
        }
        pageCount = pages
        copied = Array(repeating: 0, count: pages / 64 + 1)
        return true
    }

    /// Copies a page unless it is copied already. Later writes to the file's page then do not show here.
    func copy(_ page: UInt64) {
        guard page < UInt64(pageCount), let base = pageMap.base else { return }
        let (word, bit) = (Int(page >> 6), 1 << (page & 63) as UInt64)
        if copied[word] & bit != 0 { return }
        copied[word] |= bit
        copiedPages += 1
        cp_copy_private_page(UnsafeMutableRawPointer(mutating: base + Int(page) * MappedPage.bytes))
    }
}
