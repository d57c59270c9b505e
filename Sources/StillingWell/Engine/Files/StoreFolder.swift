// The folder of a store and the files in it: whose they are, who may read them, and what was never finished. Nothing is
// opened through a symbolic link in place of a file, and what is made here is for its user alone unless asked otherwise.
import CStillingWellLMDB
import Glibc

/// Who may read and write what a store makes.
struct FileModes: Equatable, Sendable {
    static let owner = FileModes(0o600)

    let file: mode_t
    /// Who may read the files may enter the folder.
    let folder: mode_t

    /// - Parameter file: as of `chmod`; the owner may always read and write, and nobody executes a store.
    init(_ file: UInt32) {
        self.file = file & 0o666 | 0o600
        folder = self.file | (self.file & 0o444) >> 2
    }
}

enum StoreFolder {
    static let data = "data.mdb"
    static let lock = "lock.mdb"
    /// While a store is made its files have other names: what is found under these was never finished.
    static let newData = "data.new"
    static let newLock = "data.new-lock"
    static let shared = "shared"
    /// What was flushed last.
    static let durable = "durable.mdb"
    /// Folder of the copy that takes the place of the file when a store is compacted.
    static let compact = "compact"
    static let all = [data, lock, newData, newLock, shared, durable]

    /// Makes a folder and those above it. One that is there is left as it is.
    /// - Parameter isDurable: whether it is to be there after a power cut.
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
        // What was asked for, whatever the process takes from files that it makes.
        guard chmod(path, modes.folder) == 0 else { throw FolderLock.failure("set the mode of", path) }
        if isDurable { try synchronize(path + "/..") }
    }

    /// Refuses files that are something else: a link leads to a file that nobody meant.
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

    /// Whether a store's file is there, or what was left of making one.
    static func hasStore(_ directory: String) throws(StoreError) -> Bool {
        for name in [data, newData] where try FileIdentity.at("\(directory)/\(name)") != nil { return true }
        return false
    }

    /// Removes the files of a store that nobody has open, and its folder if that is empty then. Killed at any instant, it leaves the
    /// whole store or none.
    static func removeStore(_ directory: String) throws(StoreError) {
        let (file, unfinished) = ("\(directory)/\(data)", "\(directory)/\(newData)")
        // A data file under the unfinished name does not count as a store.
        guard rename(file, unfinished) == 0 || errno == ENOENT else { throw FolderLock.failure("remove", file) }
        try synchronize(directory)
        let copy = "\(compact)/\(data)"
        for name in [copy] + all {
            guard unlink("\(directory)/\(name)") == 0 || errno == ENOENT || errno == ENOTDIR else {
                throw FolderLock.failure("remove", "\(directory)/\(name)")
            }
        }
        // Each stays if something else is in it.
        rmdir("\(directory)/\(compact)")
        rmdir(directory)
    }

    // MARK: Making a store

    /// Whether there is no store yet: no file, or one that a machine left that went down while the first pages were
    /// written, empty or of zeros. Called by who has the folder alone.
    static func isUnmade(_ directory: String) throws(StoreError) -> Bool {
        let path = "\(directory)/\(data)"
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return true }
            throw FolderLock.failure("open", path)
        }
        defer { close(file) }
        // The engine begins with two pages.
        var bytes = [UInt8](repeating: 0, count: 2 * Int(sysconf(Int32(_SC_PAGESIZE))) + 1)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw FolderLock.failure("read", path) }
        return count < bytes.count && bytes.allSatisfy { $0 == 0 }
    }

    /// Gives a new store's files their names: from here on there is a store. Both files are open, and stay so.
    static func finish(_ directory: String, _ modes: FileModes) throws(StoreError) {
        for (new, name) in [(newLock, lock), (newData, data)] {
            let path = "\(directory)/\(new)"
            guard chmod(path, modes.file) == 0, rename(path, "\(directory)/\(name)") == 0 else {
                throw FolderLock.failure("name the new file", path)
            }
        }
        try synchronize(directory)
    }

    /// Makes sure that a file or a folder's list of files survives a power cut.
    static func synchronize(_ path: String) throws(StoreError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FolderLock.failure("synchronize", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw FolderLock.failure("synchronize", path) }
    }
}
