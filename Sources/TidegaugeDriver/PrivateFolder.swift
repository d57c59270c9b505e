// A folder for data that must not outlive this process, on a file system shared with other users (/tmp, /dev/shm).
// Its name is random, only this user can enter it, and its owner holds a lock on it. Folders of killed processes are
// recognised by the missing lock. Another process removes them before it makes its first folder in the same place.
//
// `swept` has its own lock and `descriptor` is an atomic. Any thread may remove a folder.
import Foundation
import Synchronization

/// Created by `init`, removed by `remove()` or on deinit.
public final class PrivateFolder: Sendable {
    /// Error: a private folder cannot be created.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ action: String, _ path: String, errno code: Int32) {
            let remedy =
                path.hasPrefix(PrivateFolder.temporaryPlace)
                ? "let TMPDIR name a folder that you may write to, with room in it" : "free some space there"
            description = "\(path): cannot \(action): \(String(cString: strerror(code))); \(remedy)"
        }
    }

    /// Folder for temporary files: `TMPDIR` or `/tmp`.
    public static var temporaryPlace: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The file system in memory if it is writable, else `temporaryPlace`.
    public static var memoryPlace: String {
        access(memoryFileSystem, W_OK | X_OK) == 0 ? memoryFileSystem : temporaryPlace
    }

    /// Standard mount point of the file system in memory on Linux.
    public static let memoryFileSystem = "/dev/shm"

    /// Prefix before six random characters. All paths in one place have one length, so that two compared processes get
    /// arguments of equal length.
    private static let prefix = "tidegauge-"
    /// Places that this process has already swept.
    private static let swept = Mutex<Set<String>>([])

    /// Path of the folder, locked by `flock`; folders inside are not locked.
    public let path: String
    /// Descriptor that holds the lock; -1 after removal.
    private let descriptor: Atomic<Int32>

    /// Creates a folder that only this user can enter. The first one of this process in a place also removes leftovers
    /// of killed processes.
    /// - Parameter place: an existing folder.
    /// - Throws: `Failure`.
    public init(in place: String = PrivateFolder.temporaryPlace) throws {
        if Self.swept.withLock({ $0.insert(place).inserted }) { Self.sweep(place) }
        while true {
            var template = Array("\(place)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Failure("make a folder in it", place, errno: errno) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            // Another process may have swept the folder before it was locked.
            if descriptor < 0, errno == ENOENT { continue }
            guard descriptor >= 0 else { throw Failure("open it", path, errno: errno) }
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            if Self.isAt(path, descriptor) {
                self.path = path
                self.descriptor = Atomic(descriptor)
                return
            }
            close(descriptor)
        }
    }

    deinit { remove() }

    /// Removes the folder with its content. A second call does nothing.
    public func remove() {
        let descriptor = self.descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard descriptor >= 0 else { return }
        // The lock is held until the folder is removed, so that no other process removes it concurrently.
        try? FileManager.default.removeItem(atPath: path)
        close(descriptor)
    }

    // MARK: Leftovers of killed processes

    /// Removes folders of this kind in `place` that belong to this user, are closed to others and not locked. Links and
    /// folders of other users are left alone.
    static func sweep(_ place: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] where name.hasPrefix(prefix) {
            let path = "\(place)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
                flock(descriptor, LOCK_EX | LOCK_NB) == 0, isAt(path, descriptor)
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Returns whether the path still names the open folder.
    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }
}
