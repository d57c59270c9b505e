// `durable.mdb`, which keeps the record of the last flush. A write returns once the record is on the disk (`O_DSYNC`).
import Glibc

/// Used by one thread at a time.
final class FlushFile: Sendable {
    private let file: Int32
    private let path: String

    /// Opens the file, and makes it if there is none.
    /// - Parameters:
    ///   - isEmptied: whether existing records are of another store and are erased.
    ///   - isNamed: whether the directory entries of the store's files are known to be on the disk.
    init(_ directory: String, _ modes: FileModes, isEmptied: Bool, isNamed: Bool) throws(StoreError) {
        path = directory + "/" + StoreFolder.durable
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_DSYNC
        var file = open(path, flags)
        let isNew = file < 0 && errno == ENOENT
        if isNew {
            file = open(path, flags | O_CREAT | O_EXCL, modes.file)
            if file >= 0 { fchmod(file, modes.file) }
        }
        guard file >= 0 else { throw FolderLock.failure("open", path) }
        self.file = file
        if isNew || isEmptied {
            // Allocates the file's space, so that a later write cannot run out of it.
            let zeros = [UInt8](repeating: 0, count: FlushRecord.places * FlushRecord.strideBytes)
            guard pwrite(file, zeros, zeros.count, 0) == zeros.count, fsync(file) == 0 else {
                throw errno == ENOSPC || errno == EDQUOT
                    ? .diskFull(path: directory) : FolderLock.failure("write", path)
            }
        }
        if isNew || !isNamed { try StoreFolder.synchronize(directory) }
    }

    deinit { close(file) }

    /// - Returns: an error number, or 0.
    func write(_ record: FlushRecord) -> Int32 {
        Self.write(record.encoded, file, off_t(record.place * FlushRecord.strideBytes))
    }

    /// Writes bytes that fit into a single write.
    /// - Returns: an error number, or 0.
    static func write(_ bytes: [UInt8], _ file: Int32, _ place: off_t) -> Int32 {
        while true {
            let written = pwrite(file, bytes, bytes.count, place)
            if written == bytes.count { return 0 }
            if written >= 0 { return ENOSPC }
            if errno != EINTR { return errno }
        }
    }

    /// Valid records in a store's folder, the newest first.
    static func records(_ directory: String) throws(StoreError) -> [FlushRecord] {
        let path = directory + "/" + StoreFolder.durable
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return [] }
            throw FolderLock.failure("open", path)
        }
        defer { close(file) }
        var records: [FlushRecord] = []
        for place in 0..<FlushRecord.places {
            var bytes = [UInt8](repeating: 0, count: FlushRecord.bytes)
            guard pread(file, &bytes, bytes.count, off_t(place * FlushRecord.strideBytes)) >= 0 else {
                throw FolderLock.failure("read", path)
            }
            if let record = bytes.withUnsafeBytes({ FlushRecord($0) }) { records.append(record) }
        }
        return records.sorted { $0.number > $1.number }
    }
}
