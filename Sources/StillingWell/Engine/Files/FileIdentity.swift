// Identity of a file, found by its path or descriptor.
import Glibc

/// Device and inode of a file.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    private init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }

    /// Identity of an open file.
    /// - Throws: `cannotOpen` if a system call fails.
    init(of file: Int32, _ path: String) throws(StoreError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FolderLock.failure("look at", path) }
        self.init(status)
    }

    /// Identity of the file at a path, or nil if there is none.
    /// - Throws: `cannotOpen` if a system call fails.
    static func at(_ path: String) throws(StoreError) -> FileIdentity? {
        let (identity, code) = look(path)
        errno = code
        if code != 0 { throw FolderLock.failure("look at", path) }
        return identity
    }

    /// Identity of the file with a name in a folder, or nil if there is none.
    /// - Throws: `cannotOpen` if a system call fails.
    static func at(_ folder: String, _ name: String) throws(StoreError) -> FileIdentity? {
        var status = stat()
        let code = FolderLock.look(folder, name, &status)
        if code == 0 { return FileIdentity(status) }
        if code == ENOENT || code == ENOTDIR { return nil }
        errno = code
        throw FolderLock.failure("look at", "\(folder)/\(name)")
    }

    /// Identity of the file at a path, or nil if there is none. If a system call fails, nil and an error number.
    static func look(_ path: UnsafePointer<CChar>) -> (identity: FileIdentity?, code: Int32) {
        var status = stat()
        if lstat(path, &status) == 0 { return (FileIdentity(status), 0) }
        return (nil, errno == ENOENT || errno == ENOTDIR ? 0 : errno)
    }
}
