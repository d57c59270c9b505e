// Names, modes, creation and removal of the files of a store. New files are accessible to their user only, unless the
// program asks otherwise.
import CStillingWellLMDB
import Glibc

/// Access modes of the files and folders of a store.
struct FileModes: Equatable, Sendable {
    static let owner = FileModes(0o600)

    let file: mode_t
    /// Mode of folders: readers of the files may enter.
    let folder: mode_t

    /// - Parameter file: mode as of `chmod`. The owner may always read and write; execution is never allowed.
    init(_ file: UInt32) {
        self.file = file & 0o666 | 0o600
        folder = self.file | (self.file & 0o444) >> 2
    }
}

enum StoreFolder {
    static let data = "data.mdb"
    static let lock = "lock.mdb"
    /// Names of the files while a store is made. Files with these names are no finished store.
    static let newData = "data.new"
    static let newLock = "data.new-lock"
    static let shared = "shared"
    /// Record of the last flush.
    static let durable = "durable.mdb"
    /// Folder of the copy that replaces the file when a store is compacted.
    static let compact = "compact"
    static let all = [data, lock, newData, newLock, shared, durable]

    /// Makes a folder and its parents. Leaves an existing one as it is.
    /// - Parameter isDurable: whether the folder has to survive a power cut.
    static func make(_ path: String, _ modes: FileModes, isDurable: Bool = true) throws(StoreError) {
        var code = mkdir(path, modes.folder)
        if code != 0, errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try make(String(path[..<slash]), modes, isDurable: isDurable)
            code = mkdir(path, modes.folder)
        }
        guard code == 0 else {
            if errno == EEXIST { return }
            throw FolderLock.failure("make folder", path)
        }
        // Sets the requested mode regardless of the umask.
        guard chmod(path, modes.folder) == 0 else { throw FolderLock.failure("set the mode of", path) }
        if isDurable { try synchronize(path + "/..") }
    }

    /// Refuses files that are not regular files: a symbolic link could lead to any other file.
    static func checkFiles(_ directory: String) throws(StoreError) {
        for name in all {
            var status = stat()
            let code = FolderLock.look(directory, name, &status)
            if code == ENOENT { continue }
            errno = code
            if code != 0 { throw FolderLock.failure("look at", "\(directory)/\(name)") }
            switch status.st_mode & S_IFMT {
            case S_IFREG: continue
            case S_IFLNK: errno = ELOOP
            default: errno = EISDIR
            }
            throw FolderLock.failure("open", "\(directory)/\(name)")
        }
    }

    static func remove(_ names: [String], in directory: String) {
        for name in names { unlink("\(directory)/\(name)") }
    }

    // MARK: Removing a store

    /// Whether the folder has a store's data file, finished or not.
    static func hasStore(_ directory: String) throws(StoreError) -> Bool {
        for name in [data, newData] where try FileIdentity.at("\(directory)/\(name)") != nil { return true }
        return false
    }

    /// Removes the files of a store that no process has open, and its folder if then empty. If killed, leaves the whole
    /// store, or files that do not open as one.
    static func removeStore(_ directory: String) throws(StoreError) {
        let (file, unfinished) = ("\(directory)/\(data)", "\(directory)/\(newData)")
        // A data file with the unfinished name is not opened.
        guard rename(file, unfinished) == 0 || errno == ENOENT else { throw FolderLock.failure("remove", file) }
        try synchronize(directory)
        let copy = "\(compact)/\(data)"
        for name in [copy] + all {
            guard unlink("\(directory)/\(name)") == 0 || errno == ENOENT || errno == ENOTDIR else {
                throw FolderLock.failure("remove", "\(directory)/\(name)")
            }
        }
        // Each folder stays if it has other content.
        rmdir("\(directory)/\(compact)")
        rmdir(directory)
    }

    // MARK: Making a store

    /// Whether there is no store yet: no file, or an empty or zeroed one after a crash. Requires exclusive access.
    static func isUnmade(_ directory: String) throws(StoreError) -> Bool {
        let path = "\(directory)/\(data)"
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return true }
            throw FolderLock.failure("open", path)
        }
        defer { close(file) }
        // LMDB begins with two pages.
        var bytes = [UInt8](repeating: 0, count: 2 * Int(sysconf(Int32(_SC_PAGESIZE))) + 1)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw FolderLock.failure("read", path) }
        return count < bytes.count && bytes.allSatisfy { $0 == 0 }
    }

    /// Gives a new store's files their names, after which the store exists.
    static func finish(_ directory: String, _ modes: FileModes) throws(StoreError) {
        for (new, name) in [(newLock, lock), (newData, data)] {
            let path = "\(directory)/\(new)"
            guard chmod(path, modes.file) == 0, rename(path, "\(directory)/\(name)") == 0 else {
                throw FolderLock.failure("name the new file", path)
            }
        }
        try synchronize(directory)
    }

    /// Makes a file, or a folder's list of entries, survive a power cut.
    static func synchronize(_ path: String) throws(StoreError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FolderLock.failure("synchronize", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw FolderLock.failure("synchronize", path) }
    }
}
