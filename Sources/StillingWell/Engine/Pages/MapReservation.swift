// Reserves file space for writing through a map on a memory file system. Touching a page that cannot be allocated there
// raises SIGBUS, so pages are allocated first, where a failure is an error. Guarded by the write lock. Other processes
// may have grown the file; allocating pages that exist is harmless.
import CStillingWellLMDB
import Glibc

struct MapReservation {
    private static let pageBytes = 4_096
    /// Smallest and largest growth step. The reservation grows to what is needed plus an eighth of its size, within
    /// these bounds.
    private static let stepBytes = 1 << 17...8 << 20
    /// Bytes kept reserved behind the highest page in use, enough for one change of a small row.
    static let marginBytes = 1 << 20

    private let file: mdb_filehandle_t
    private let path: String
    private let environment: OpaquePointer
    private var reservedBytes = 0
    /// Bytes of the file up to the highest page known to be in use.
    private var usedBytes = 0

    init(_ environment: OpaquePointer, path: String) throws(StoreError) {
        self.environment = environment
        self.path = path
        var file: mdb_filehandle_t = -1
        try LMDB.check(mdb_env_get_fd(environment, &file), "get file", path: path)
        self.file = file
        try ensure()
    }

    /// Reserves the margin behind the pages in use. Throws `diskFull` or `storage`.
    mutating func ensure() throws(StoreError) {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        usedBytes = max(usedBytes, (Int(info.me_last_pgno) + 1) * Self.pageBytes)
        try grow(to: usedBytes + Self.marginBytes)
    }

    /// Reserves `extraBytes` and the margin. For use within a transaction, whose own growth LMDB does not report.
    mutating func ensureBehindUse(_ extraBytes: Int) throws(StoreError) {
        try grow(to: usedBytes + extraBytes + Self.marginBytes)
    }

    /// Updates the used size after a value was stored at `address`, and keeps the margin behind it.
    @inline(__always)
    mutating func stored(at address: UnsafeRawPointer) throws(StoreError) {
        // A page begins with its number. The map's address would not do: a forked child has the file mapped twice.
        let page = address - Int(bitPattern: UInt(bitPattern: address) % UInt(Self.pageBytes))
        let end = (Int(truncatingIfNeeded: page.load(as: UInt64.self)) &+ 1) &* Self.pageBytes
        guard end > usedBytes else { return }
        usedBytes = end
        if end + Self.marginBytes > reservedBytes { try grow(to: end + Self.marginBytes) }
    }

    private mutating func grow(to wanted: Int) throws(StoreError) {
        guard wanted > reservedBytes else { return }
        let step = min(max(reservedBytes / 8, Self.stepBytes.lowerBound), Self.stepBytes.upperBound)
        let target = (wanted + step - 1) / Self.pageBytes * Self.pageBytes
        // Only the new range: allocating pages that exist takes time in proportion to the file.
        let error = posix_fallocate(file, off_t(reservedBytes), off_t(target - reservedBytes))
        switch error {
        case 0: reservedBytes = target
        case ENOSPC, EFBIG: throw .diskFull(path: path)
        default: throw .storage(operation: "reserve", code: error, reason: String(cString: strerror(error)))
        }
    }
}
