// Folders for stores in memory whose own folder is on a disk. Any user may write to the memory file system, so the
// folder of a user is used only if it belongs to that user and no other user may enter it. In it, a store's folder is
// named after the store's path, so that all processes of the user find the same one.
//
// The last process of a store removes its folder. If all processes were killed, the user's next opening of another such
// store removes it. File locks, which the system releases, tell whether a folder is in use; process ids are not
// trusted. Removing a folder requires its lock. A process that waited for the lock of a removed folder makes the folder
// again.
import Glibc

enum MemoryFolder {
    private static let longestName = 255

    /// Folder of the store with this canonical path, made if necessary.
    /// - Parameter root: a folder on a memory file system that any user may write to.
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
        // If another process sweeps the folder before it is locked, the lock makes it again.
        if mkdir(folder, FileModes.owner.folder) != 0, errno != EEXIST {
            throw FolderLock.failure("make folder", folder)
        }
        return folder
    }

    /// Folder of the store with this canonical path, or nil if there is none.
    static func existing(for path: String, root: String = "/dev/shm") throws(StoreError) -> String? {
        let (user, name) = ("\(root)/stillingwell-\(geteuid())", name(of: path))
        guard name.utf8.count <= longestName, try FileIdentity.at("\(user)/\(name)") != nil else { return nil }
        try checkOwner(user)
        return "\(user)/\(name)"
    }

    /// The path as a single name, unique for each path.
    static func name(of path: String) -> String {
        path.replacing("%", with: "%25").replacing("=", with: "%3D").replacing("/", with: "=")
    }

    /// Throws unless the folder belongs to the user and only the user can change it. Does not open it, which could
    /// fail.
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

    /// Removes folders of stores that no process has open or is opening, except the one named `name`.
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

    /// - Parameter file: descriptor of the folder, which may have been removed since it was opened.
    static func removeIfUnused(_ file: Int32, at folder: String) {
        // Locked by a process that opens or removes the store.
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return }
        // The folder was removed since it was opened. The one now at its path may be in use.
        guard FolderLock.isPresent(file, at: folder) else { return }
        let shared = openat(file, StoreFolder.shared, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        defer { if shared >= 0 { FolderLock.release(shared) } }
        // Held by all processes with the store open. Missing if a process was killed while making the folder.
        guard shared >= 0 ? flock(shared, LOCK_EX | LOCK_NB) == 0 : errno == ENOENT else { return }
        StoreFolder.remove(StoreFolder.all, in: folder)
        rmdir(folder)
    }
}
