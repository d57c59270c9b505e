// A folder for what must not outlive this process, on a file system that other users write to as well (/tmp, /dev/shm). Its
// name cannot be guessed, nobody else can look into it, and whoever lives holds a lock on it: what a killed process left
// behind is known by that lock, and removed by the next one.
//
// `swept` is guarded by itself; everything else is set once. A folder may be removed by any thread.
import Foundation
import Synchronization

/// Made by `init`, gone with `remove()` or with its owner.
public final class PrivateFolder: Sendable {
    /// What a process could not have of its own.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ action: String, _ path: String, errno code: Int32) {
            let remedy =
                path.hasPrefix(PrivateFolder.temporaryPlace)
                ? "let TMPDIR name a folder that you may write to, with room in it" : "free some space there"
            description = "\(path): cannot \(action): \(String(cString: strerror(code))); \(remedy)"
        }
    }

    /// Where the system keeps what is temporary: `TMPDIR`, or else `/tmp`.
    public static var temporaryPlace: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The file system in memory, where this process may write to it; or else `temporaryPlace`.
    public static var memoryPlace: String {
        access(memoryFileSystem, W_OK | X_OK) == 0 ? memoryFileSystem : temporaryPlace
    }

    /// Where Linux mounts one for everybody.
    public static let memoryFileSystem = "/dev/shm"

    /// Six random characters follow: paths of one length, as everything has to be that two compared processes are told.
    private static let prefix = "tidegauge-"
    /// Places that have been swept by this process.
    private static let swept = Mutex<Set<String>>([])

    /// Locked itself, by `flock`; folders in it are not.
    public let path: String
    /// Holds the lock; -1 once the folder is removed.
    private let descriptor: Atomic<Int32>

    /// Makes a folder that only this user may enter. The first in a place also removes what killed processes left there.
    /// - Parameter place: An existing folder.
    /// - Throws: `Failure`.
    public init(in place: String = PrivateFolder.temporaryPlace) throws {
        if Self.swept.withLock({ $0.insert(place).inserted }) { Self.sweep(place) }
        while true {
            var template = Array("\(place)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Failure("make a folder in it", place, errno: errno) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            // A sweeper may have been quicker than the lock, and thought it left behind.
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

    /// Removes the folder and all that is in it. A second call does nothing.
    public func remove() {
        let descriptor = self.descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard descriptor >= 0 else { return }
        // While it is locked, so that nobody else removes it meanwhile.
        try? FileManager.default.removeItem(atPath: path)
        close(descriptor)
    }

    // MARK: What others left behind

    /// Removes folders of this kind in `place` that are this user's own, closed to everybody else, and locked by nobody:
    /// their owner is dead. Links and other people's folders are not touched, whatever their names.
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

    /// Whether the folder that is open is still the one of that name.
    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }
}
