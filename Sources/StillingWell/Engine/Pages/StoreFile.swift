// Faults of the data file as a whole. Reads find damage inside of it.
import CStillingWellEngine
import CStillingWellLMDB
import Glibc

enum StoreFile {
    /// Returns the error for a failed open of LMDB on a folder, with a remedy.
    static func openingError(_ code: Int32, _ directory: String) -> StoreError {
        let file = directory + "/data.mdb"
        switch code {
        case MDB_INVALID, MDB_CORRUPTED, MDB_VERSION_MISMATCH:
            return .cannotOpen(
                path: file,
                reason: "it is no store, or its header is damaged; restore it from a backup, or move it away")
        case ENOSPC, EDQUOT: return .diskFull(path: directory)
        case ENOMEM:
            return .cannotOpen(
                path: file, reason: "there is no address space for its map; lower Store.Configuration.mapBytes")
        default:
            errno = code
            return FolderLock.failure("open", file)
        }
    }

    private static func length(_ file: Int32) -> Int {
        var status = stat()
        return fstat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    static func descriptor(_ environment: OpaquePointer) -> Int32 {
        var file: mdb_filehandle_t = -1
        mdb_env_get_fd(environment, &file)
        return file
    }

    /// Returns whether the file cannot grow by 1 MiB: its file system is full, or the limit of the process is reached.
    static func isFull(_ environment: OpaquePointer, _ directory: String) -> Bool {
        let marginBytes = 1 << 20
        var space = statvfs()
        if statvfs(directory, &space) == 0, Int(space.f_bavail) * Int(space.f_frsize) < marginBytes { return true }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return false }
        return limit.rlim_cur < UInt(length(descriptor(environment)) + marginBytes)
    }

    /// Returns whether an open file does not have its last page.
    static func isCut(_ environment: OpaquePointer) -> Bool {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return length(descriptor(environment)) / MappedPage.bytes <= info.me_last_pgno
    }

    /// Bound of plausible transaction ids: a header with a larger one is damaged.
    private static let mostTransactions = 1 << 56

    /// Refuses a file with impossible counts in its header or without its end. Free pages at the end may never have
    /// been written, so they may be missing. The length is checked only if no other process has the file open.
    /// - Throws: `cannotOpen`; `diskFull` if the file cannot be extended; errors of LMDB.
    static func checkLength(_ environment: OpaquePointer, _ directory: String, isAlone: Bool) throws(StoreError) {
        var info = MDB_envinfo()
        var status = MDB_stat()
        mdb_env_info(environment, &info)
        mdb_env_stat(environment, &status)
        let pageBytes = Int(status.ms_psize)
        let file = descriptor(environment)
        let present = length(file)
        // Counts come from the header and may be damaged.
        let (pages, isTooMany) = info.me_last_pgno.addingReportingOverflow(1)
        let (bytes, isTooLong) = pages.multipliedReportingOverflow(by: pageBytes)
        guard !isTooMany, !isTooLong, pages > 0, pageBytes > 0,
            (0..<mostTransactions).contains(info.me_last_txnid)
        else { throw openingError(MDB_CORRUPTED, directory) }
        guard isAlone, present < bytes else { return }
        // The missing part reads as zeros from here on.
        guard ftruncate(file, off_t(bytes)) == 0 else { throw .diskFull(path: directory) }
        let missing = present / pageBytes..<pages
        let free: Int
        do throws(EngineFailure) {
            free = try freePages(environment, in: missing)
        } catch {
            ftruncate(file, off_t(present))
            // The list of free pages may lie in the lost part.
            guard [MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_BAD_TXN].contains(error.code) else {
                throw LMDB.error(error.code, "read the list of free pages", path: directory)
            }
            throw lost(directory, present, of: bytes)
        }
        if free < missing.count {
            ftruncate(file, off_t(present))
            throw lost(directory, present, of: bytes)
        }
    }

    private static func lost(_ directory: String, _ present: Int, of bytes: Int) -> StoreError {
        .cannotOpen(
            path: directory + "/data.mdb",
            reason: "it has \(present) bytes of \(bytes), its end is lost; restore it from a backup")
    }

    /// Number of pages of a range that LMDB lists as free.
    private static func freePages(_ environment: OpaquePointer, in range: Range<Int>) throws(EngineFailure) -> Int {
        let transaction = try LMDB.beginReading(environment)
        defer { mdb_txn_abort(transaction) }
        var free = 0
        try LMDB.scan(transaction, LMDB.freePages) { (_, pages) throws(EngineFailure) in
            try LMDB.forEachPage(in: pages) { if range.contains(Int(truncatingIfNeeded: $0)) { free += 1 } }
            return true
        }
        return free
    }
}
