// Waits for changes that another process makes to a folder.
import Foundation
import Testing

/// Used by one thread, except for `end`.
final class FolderWatch: Sendable {
    private static let events = UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE)
    private let path: String
    private let notices: Int32
    /// Written to once no more changes will come.
    private let ended = Pipe()

    init(_ path: String) throws {
        self.path = path
        notices = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        try #require(notices >= 0)
        try watch(path)
    }

    deinit { close(notices) }

    /// Notes that no more changes will come. May be called on any thread.
    func end() { try? ended.fileHandleForWriting.write(contentsOf: Data([0])) }

    /// Waits for a change since the last call, or since the watch was made.
    /// - Returns: false if no more changes will come.
    func wait() throws -> Bool {
        var waited = [notices, ended.fileHandleForReading.fileDescriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&waited, 2, -1) < 0 { try #require(errno == EINTR) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(notices, &buffer, buffer.count) > 0 {}
        // Watches new folders. A caller that reads them afterwards misses no change.
        try watch(path)
        return waited[1].revents == 0
    }

    /// Watches the folder before it reads its entries, so that entries made meanwhile are noticed.
    private func watch(_ path: String) throws {
        guard inotify_add_watch(notices, path, Self.events | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)) >= 0 else {
            // Not a folder, or removed meanwhile.
            return try #require(errno == ENOTDIR || errno == ENOENT)
        }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { try watch("\(path)/\(name)") }
    }
}
