// Waits for what another process does to the files of a folder.
import Foundation
import Testing

/// Used by one thread, but for `end`.
final class FolderWatch: Sendable {
    private static let events = UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE)
    private let path: String
    private let notices: Int32
    /// Written to once nothing more will happen.
    private let ended = Pipe()

    init(_ path: String) throws {
        self.path = path
        notices = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        try #require(notices >= 0)
        try watch(path)
    }

    deinit { close(notices) }

    /// Nothing more will happen. Any thread.
    func end() { try? ended.fileHandleForWriting.write(contentsOf: Data([0])) }

    /// Waits until something has happened since the last call, or since there is the watch.
    /// - Returns: false when nothing more will.
    func wait() throws -> Bool {
        var waited = [notices, ended.fileHandleForReading.fileDescriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&waited, 2, -1) < 0 { try #require(errno == EINTR) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(notices, &buffer, buffer.count) > 0 {}
        // Folders that are new; who looks at them afterwards misses nothing.
        try watch(path)
        return waited[1].revents == 0
    }

    /// The folder first, what is in it then: what is made meanwhile is noticed.
    private func watch(_ path: String) throws {
        guard inotify_add_watch(notices, path, Self.events | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)) >= 0 else {
            // No folder, or gone again.
            return try #require(errno == ENOTDIR || errno == ENOENT)
        }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { try watch("\(path)/\(name)") }
    }
}
