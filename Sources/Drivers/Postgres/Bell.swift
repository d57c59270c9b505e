import CStillingWellPlatform
import Glibc

/// Wakes a thread that waits for a socket. Any thread may ring.
final class Bell: Sendable {
    private let ends: (heard: Int32, rung: Int32)

    init() throws {
        var made: [Int32] = [-1, -1]
        guard cp_pipe(&made) == 0 else {
            throw PostgresError("no pipe can be made (errno \(errno)): raise `ulimit -n`")
        }
        for end in made { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        ends = (made[0], made[1])
    }

    deinit {
        close(ends.heard)
        close(ends.rung)
    }

    func ring() {
        var byte: UInt8 = 1
        _ = write(ends.rung, &byte, 1)
    }

    /// Waits until it rings, the socket is readable, or the timeout has passed.
    /// - Parameters:
    ///   - socket: negative for none.
    ///   - timeoutMs: negative for no timeout.
    func wait(orFor socket: Int32, timeoutMs: Int32) { wait(orFor: [socket], timeoutMs: timeoutMs) }

    /// The same for several sockets.
    func wait(orFor sockets: [Int32], timeoutMs: Int32) {
        var places = ([ends.heard] + sockets).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&places, nfds_t(places.count), timeoutMs)
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ends.heard, &bytes, bytes.count) > 0 {}
    }
}
