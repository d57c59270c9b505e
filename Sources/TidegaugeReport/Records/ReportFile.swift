// Atomic writes: after a crash, a full disk or an interrupt, a replaced file has its old or its new content.
import Foundation

/// Error: a report could not be written.
public struct ReportError: Error, CustomStringConvertible, Equatable {
    public var path: String
    public var action: String
    public var reason: String

    init(_ action: String, _ path: String, errno code: Int32) {
        let remedy = code == EFBIG ? " (the limit of 'ulimit -f')" : ""
        self.init(action, path, reason: String(cString: strerror(code)) + remedy)
    }

    init(_ action: String, _ path: String, reason: String) {
        (self.path, self.action, self.reason) = (path, action, reason)
    }

    /// Message without a remedy, for callers with a better one.
    public var problem: String { "\(path): cannot \(action): \(reason)" }

    public var description: String { "\(problem); free some space or choose another folder with --out" }
}

enum ReportFile {
    /// Replaces the file atomically: a reader sees the old or the new text, never a part.
    static func replace(_ path: String, with bytes: some Collection<UInt8>) throws {
        let temporary = path + ".new"
        // Removes a leftover of a killed run, or a link placed by another user, which must not be followed.
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw ReportError("create the file", temporary, errno: errno) }
        do {
            defer { close(file) }
            try write(bytes, to: file, path: temporary)
        }
        guard rename(temporary, path) == 0 else { throw ReportError("rename onto it", path, errno: errno) }
    }

    /// Writes all bytes and flushes them to the disk.
    static func write(_ bytes: some Collection<UInt8>, to file: Int32, path: String) throws {
        let whole = Array(bytes)
        var written = 0
        while written < whole.count {
            let count = whole.withUnsafeBytes { Foundation.write(file, $0.baseAddress! + written, $0.count - written) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw ReportError("write", path, errno: errno) }
            written += count
        }
        guard fsync(file) == 0 else { throw ReportError("flush it to disk", path, errno: errno) }
    }
}
