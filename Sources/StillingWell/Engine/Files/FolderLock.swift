// Lock of a store's folder, held while a process opens or removes the store. Waiting has a deadline. A lock of a
// folder that is no longer at its path is released, and the folder there is locked instead.
import CStillingWellPlatform
import Glibc

/// Reader for files of the kernel, line by line, because their length is not known.
enum KernelFile {
    /// Returns the first result of `body` for the fields of a line that is not nil.
    static func first<Result>(_ path: String, _ body: ([Substring]) -> Result?) -> Result? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            if let found = body(String(cString: line!).split(separator: " ")) { return found }
        }
        return nil
    }
}

enum FolderLock {
    /// Opens and locks the folder.
    /// - Parameter makesFolder: whether to make the folder if it is missing or is removed meanwhile.
    /// - Returns: the folder's file descriptor, which holds the lock.
    static func take(
        _ directory: String, _ modes: FileModes = .owner, deadlineNs: Int64, makesFolder: Bool = true
    ) throws(StoreError) -> Int32 {
        while true {
            let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else {
                if errno == ENOENT, makesFolder, mkdir(directory, modes.folder) == 0 || errno == EEXIST { continue }
                throw failure("open folder", directory)
            }
            guard lock(folder, LOCK_EX, deadlineNs: deadlineNs) else {
                let error = failure("lock folder", directory, lockedBy: holder(of: folder))
                close(folder)
                throw error
            }
            if isPresent(folder, at: directory) { return folder }
            release(folder)
        }
    }

    /// Returns whether an open folder or file is still the one at a path. A lock of an old one does not protect a new
    /// one that was made in its place.
    static func isPresent(_ file: Int32, at path: String) -> Bool {
        var opened = stat()
        var present = stat()
        return fstat(file, &opened) == 0 && stat(path, &present) == 0 && opened.st_ino == present.st_ino
            && opened.st_dev == present.st_dev
    }

    /// Unlocks a file and closes it. Closing alone is not enough: a process being started also holds the file until its
    /// program begins.
    static func release(_ file: Int32) {
        flock(file, LOCK_UN)
        close(file)
    }

    /// Locks a file, trying every 2 ms. Returns false with `errno` once the deadline has passed, or on another error.
    static func lock(_ file: Int32, _ operation: Int32, deadlineNs: Int64) -> Bool {
        while flock(file, operation | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            guard monotonicNs() < deadlineNs else {
                errno = EWOULDBLOCK
                return false
            }
            usleep(2_000)
        }
        return true
    }

    /// A process that holds a `flock` of the file according to the kernel, or nil if none is found. Compares inode
    /// numbers, not devices.
    /// - Parameter other: a process to leave out.
    static func holder(of file: Int32, besides other: pid_t? = nil) -> pid_t? {
        let error = errno
        defer { errno = error }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        // number: FLOCK ADVISORY WRITE process major:minor:inode start end. A waiting process has "->" as its kind.
        return KernelFile.first("/proc/locks") { fields in
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5].hasSuffix(":\(status.st_ino)") else { return nil }
            return pid_t(fields[4]).flatMap { $0 > 0 && $0 != other ? $0 : nil }
        }
    }

    /// Calls `lstat` for the file with a name in a folder.
    /// - Returns: 0 or an error number.
    static func look(_ folder: String, _ name: String, _ status: inout stat) -> Int32 {
        folder.withCString { folder in name.withCString { cp_look_in(folder, $0, &status) } }
    }

    /// Error for the last failed system call, with a remedy.
    static func failure(_ what: String, _ path: String, lockedBy holder: pid_t? = nil) -> StoreError {
        let reason = String(cString: strerror(errno))
        let remedy =
            switch errno {
            case EACCES, EPERM: "give this user the right to read and write the folder and its files"
            case EROFS: "copy it to a file system that can be written to: reading needs its lock files too"
            case EISDIR: "something else is in its place; move that away"
            case EWOULDBLOCK:
                "\(holder.map { "process \($0)" } ?? "another process") is opening it, or holds its lock; end that process, or "
                    + "try again"
            case ELOOP: "a symbolic link is in its place; move that away"
            case ENOSPC, EDQUOT: "free some space and retry"
            case EMFILE, ENFILE: "too many files are open; close some, or raise the limit of open files (ulimit -n)"
            default: "see whether the path is right"
            }
        return .cannotOpen(path: path, reason: "\(what): \(reason); \(remedy)")
    }
}
