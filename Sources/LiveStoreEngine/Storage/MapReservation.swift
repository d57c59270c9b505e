// Space for writing through a map on a memory file system. Pages that cannot be had there are a SIGBUS when touched,
// so they are asked for first, where the answer can still be an error. Guarded by the write lock; the file is shared,
// so other processes' growth counts too (allocating what exists is harmless).
import CLMDB
import Glibc

struct MapReservation {
    private static let pageBytes = 4_096
    /// It grows by an eighth of what there is, between these two: a small store is a small file.
    private static let stepBytes = 1 << 20...8 << 20
    /// What one change of a small row may take behind the highest page seen so far: copies of a path in two trees.
    static let marginBytes = 1 << 20

    private let file: mdb_filehandle_t
    private let path: String
    private let base: UInt
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
        guard let base = Self.address(ofMapOf: path + "/data.mdb") else {
            throw .cannotOpen(path: path, reason: "its map is not in /proc/self/maps; is /proc mounted?")
        }
        self.base = base
        try ensure()
    }

    /// Where the file is mapped: LMDB tells the address of fixed maps only, the kernel that of all.
    private static func address(ofMapOf file: String) -> UInt? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        // start-end permissions offset device inode path
        return KernelFile.first("/proc/self/maps") { fields in
            guard fields.count >= 5, UInt64(fields[4]) == UInt64(status.st_ino), UInt64(fields[2], radix: 16) == 0
            else { return nil }
            return fields[0].split(separator: "-").first.flatMap { UInt($0, radix: 16) }
        }
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
        let end = Int(UInt(bitPattern: address) - base) + Self.pageBytes
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
