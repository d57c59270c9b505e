// The lock of a store's folder: held by the one process that opens the store, or removes it. Waits with patience, not
// for ever, and sees to it that the folder that was locked is the one that is there.
import CStillingWellPlatform
import Glibc

/// A file of the kernel's, read line by line: a file of unknown length comes in pieces.
enum KernelFile {
    /// What `body` makes of the fields of a line, for the first line that it makes something of.
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
    /// - Parameter makesFolder: whether to make it again if it is removed meanwhile.
    /// - Returns: its file descriptor, which holds the lock.
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

    /// Whether an open folder or file is the one that the path leads to. It may have been removed since it was opened, and
    /// another one made in its place: a lock of the old one says nothing about who uses the new one.
    static func isPresent(_ file: Int32, at path: String) -> Bool {
        var opened = stat()
        var present = stat()
        return fstat(file, &opened) == 0 && stat(path, &present) == 0 && opened.st_ino == present.st_ino
            && opened.st_dev == present.st_dev
    }

    /// Gives a lock back and closes its file. Closing alone is not enough: a process that is being started holds the file
    /// too, until its program begins.
    static func release(_ file: Int32) {
        flock(file, LOCK_UN)
        close(file)
    }

    /// Locks a file, trying again every two milliseconds; false, and an error number, once the deadline has passed.
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

    /// A process that holds a lock of the file, as the kernel lists it; nil where it does not tell.
    /// - Parameter other: a process that is not asked for.
    static func holder(of file: Int32, besides other: pid_t? = nil) -> pid_t? {
        let error = errno
        defer { errno = error }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        // number: FLOCK ADVISORY WRITE process major:minor:inode start end; one that waits has "->" for its kind
        return KernelFile.first("/proc/locks") { fields in
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5].hasSuffix(":\(status.st_ino)") else { return nil }
            return pid_t(fields[4]).flatMap { $0 > 0 && $0 != other ? $0 : nil }
        }
    }

    /// `lstat` of the file of a name in a folder.
    /// - Returns: 0 or an error number.
    static func look(_ folder: String, _ name: String, _ status: inout stat) -> Int32 {
        folder.withCString { folder in name.withCString { cp_look_in(folder, $0, &status) } }
    }

    /// The error of the last call that failed, with what to do about it.
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
