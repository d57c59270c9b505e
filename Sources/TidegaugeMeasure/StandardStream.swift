// Writes to standard output and standard error without trapping. `FileHandle.write(_:)` ends the process if the
// descriptor is closed or the disk is full, which hides the real exit code.
import Glibc

public enum StandardStream: Int32, Sendable {
    case output = 1
    case errors = 2

    /// Writes all bytes, and waits for room if the descriptor has none.
    /// - Returns: false, with `errno`, if they cannot be written.
    @discardableResult
    public func write(_ bytes: some Collection<UInt8>) -> Bool {
        let whole = Array(bytes)
        var written = 0
        while written < whole.count {
            let count = whole.withUnsafeBytes {
                Glibc.write(rawValue, $0.baseAddress! + written, $0.count - written)
            }
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                var room = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Occupies closed standard descriptors, so that no file of a trial gets such a number and is overwritten by
    /// messages. Writes to such a stream fail.
    public static func takeClosed() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", (descriptor == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }
}
