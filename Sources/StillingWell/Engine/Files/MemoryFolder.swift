// Where stores in memory have their files whose own folder lies on a disk: a folder per user on the memory file system,
// which everybody may write to. So the user's folder is used only if it is the user's and nobody else may enter it; below
// it a store's folder is named after its path, so that all processes of the user find the same one.
//
// A store's folder goes with its last process. One whose processes were all killed is swept by the next to open a store
// there. Whether a folder is in use is asked of its locks, which the system gives back, never of process ids. A folder is
// removed by who holds its lock; one that waits for the lock of a folder that is gone makes it anew.
import Glibc

enum MemoryFolder {
    private static let longestName = 255

    /// The folder of the store with this canonical path, made if it is not there.
    /// - Parameter root: on a memory file system; anybody may write to it.
    static func take(for path: String, root: String = "/dev/shm") throws(StoreError) -> String {
        let user = "\(root)/stillingwell-\(geteuid())"
        if mkdir(user, 0o700) != 0, errno != EEXIST { throw FolderLock.failure("make folder", user) }
        try checkOwner(user)
        let name = Self.name(of: path)
        guard name.utf8.count <= longestName else {
            throw .cannotOpen(
                path: path,
                reason: """
                    a store in memory has a path of at most \(longestName) bytes, and this takes \(name.utf8.count); use a \
                    shorter one, or a folder on a memory file system
                    """)
        }
        sweep(user, but: name)
        let folder = "\(user)/\(name)"
        // One that is swept at once is made again by whoever waits for its lock.
        if mkdir(folder, FileModes.owner.folder) != 0, errno != EEXIST {
            throw FolderLock.failure("make folder", folder)
        }
        return folder
    }

    /// The folder of the store with this canonical path; nil if there is none.
    static func existing(for path: String, root: String = "/dev/shm") throws(StoreError) -> String? {
        let (user, name) = ("\(root)/stillingwell-\(geteuid())", name(of: path))
        guard name.utf8.count <= longestName, try FileIdentity.at("\(user)/\(name)") != nil else { return nil }
        try checkOwner(user)
        return "\(user)/\(name)"
    }

    /// The path as one name; two paths never have the same.
    static func name(of path: String) -> String {
        path.replacing("%", with: "%25").replacing("=", with: "%3D").replacing("/", with: "=")
    }

    /// Throws unless the folder is the user's, and nobody else can change what is in it. It is not opened: the folder of another user
    /// could not be.
    private static func checkOwner(_ folder: String) throws(StoreError) {
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw FolderLock.failure("look up folder", folder) }
        let remedy = "have it removed, or put the store in a folder of your own on a memory file system"
        switch status.st_mode & S_IFMT {
        case S_IFDIR: break
        case S_IFLNK: throw .cannotOpen(path: folder, reason: "it is a symbolic link; \(remedy)")
        default: throw .cannotOpen(path: folder, reason: "it is no folder; \(remedy)")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw .cannotOpen(
                path: folder,
                reason: """
                    it belongs to user \(status.st_uid) with mode 0\(String(status.st_mode & 0o7777, radix: 8)), and must be \
                    this user's (\(geteuid())) alone; \(remedy)
                    """)
        }
    }

    /// Removes the folders of stores that nobody has open or is opening.
    private static func sweep(_ user: String, but name: String) {
        guard let list = opendir(user) else { return }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let found = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: longestName + 1) { String(cString: $0) }
            }
            if found != ".", found != "..", found != name { removeIfUnused("\(user)/\(found)") }
        }
    }

    private static func removeIfUnused(_ folder: String) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { FolderLock.release(file) }
        removeIfUnused(file, at: folder)
    }

    /// - Parameter file: the folder, opened at some time before.
    static func removeIfUnused(_ file: Int32, at folder: String) {
        // Held by one that opens, or that removes it already.
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return }
        // Removed since it was opened, as by its last process: what has its path now may be in use.
        guard FolderLock.isPresent(file, at: folder) else { return }
        let shared = openat(file, StoreFolder.shared, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        defer { if shared >= 0 { FolderLock.release(shared) } }
        // Held by all that have the store open; not there where somebody was killed while he made the folder.
        guard shared >= 0 ? flock(shared, LOCK_EX | LOCK_NB) == 0 : errno == ENOENT else { return }
        StoreFolder.remove(StoreFolder.all, in: folder)
        rmdir(folder)
    }
}
