// Standard output and standard error, written without a trap. `FileHandle.write(_:)` ends the process where the descriptor is
// closed or the disk behind it is full; the exit code then says nothing of what went wrong.
import Glibc

public enum StandardStream: Int32, Sendable {
    case output = 1
    case errors = 2

    /// Writes all bytes, and waits for room if the descriptor has none.
    /// - Returns: false, with `errno`, if they cannot be written. For a message on standard error the exit code is all that is left.
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

    /// Takes the numbers of standard streams that are closed, so that no file of a trial is opened under one of them and written
    /// over by a message. What is written to such a stream fails.
    public static func takeClosed() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", (descriptor == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }
}
