// Space for writing through a map on a memory file system. Pages that cannot be had there are a SIGBUS when touched,
// so they are asked for first, where the answer can still be an error. Guarded by the write lock; the file is shared,
// so other processes' growth counts too (allocating what exists is harmless).
import CStillingWellLMDB
import Glibc

struct MapReservation {
    private static let pageBytes = 4_096
    /// It grows by an eighth of what there is, between these two: a small store is a small file.
    private static let stepBytes = 1 << 17...8 << 20
    /// What one change of a small row may take behind the highest page seen so far: copies of a path in two trees.
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

    /// Makes sure that the margin exists behind what is in use. Throws `diskFull`.
    mutating func ensure() throws(StoreError) {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        usedBytes = max(usedBytes, (Int(info.me_last_pgno) + 1) * Self.pageBytes)
        try grow(to: usedBytes + Self.marginBytes)
    }

    /// The same, and for so many bytes more, within a transaction, whose own growth LMDB does not report.
    mutating func ensureBehindUse(_ extraBytes: Int) throws(StoreError) {
        try grow(to: usedBytes + extraBytes + Self.marginBytes)
    }

    /// Notes that something was just stored at `address`, and keeps the margin behind it.
    @inline(__always)
    mutating func stored(at address: UnsafeRawPointer) throws(StoreError) {
        // A page begins with its number. Where the file is mapped would say the same, but in a forked child it is mapped twice.
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
        // Only what is new: walking over pages that exist already costs time in proportion to the file.
        let error = posix_fallocate(file, off_t(reservedBytes), off_t(target - reservedBytes))
        switch error {
        case 0: reservedBytes = target
        case ENOSPC, EFBIG: throw .diskFull(path: path)
        default: throw .storage(operation: "reserve", code: error, reason: String(cString: strerror(error)))
        }
    }
}
