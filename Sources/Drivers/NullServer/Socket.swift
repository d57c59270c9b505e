// Sockets on one machine, as far as an echo server needs them. One thread at a time uses a socket, except for
// `shutDown`.
import CStillingWellPlatform
import Glibc
import TidegaugeDriver

struct SocketError: Error, CustomStringConvertible {
    let description: String

    init(_ call: String) {
        description = "null server: \(call) failed (errno \(errno): \(String(cString: strerror(errno))))"
    }
}

/// The address that a server listens at.
enum SocketAddress: Sendable {
    /// An abstract name, which needs no file and disappears with its last socket, so no path is too long.
    case unix(name: String)
    case tcp(port: UInt16)

    fileprivate func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch self {
        case .unix(let name):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let count = withUnsafeMutableBytes(of: &address.sun_path) { path in
                // The first byte of an abstract name is 0.
                for (index, byte) in name.utf8.prefix(path.count - 1).enumerated() { path[index + 1] = byte }
                return min(name.utf8.count, path.count - 1) + 1
            }
            let length = MemoryLayout<sa_family_t>.size + count
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
            }
        case .tcp(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            address.sin_port = port.bigEndian
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    fileprivate var family: Int32 {
        switch self {
        case .unix: AF_UNIX
        case .tcp: AF_INET
        }
    }
}

final class Socket: Sendable {
    let descriptor: Int32

    private init(taking descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func make(_ address: SocketAddress) throws -> Socket {
        let made = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw SocketError("socket") }
        return Socket(taking: made)
    }

    /// - Returns: the socket and its address.
    static func listening(over transport: ServerConfiguration.Transport) throws -> (
        socket: Socket, address: SocketAddress
    ) {
        let asked: SocketAddress =
            switch transport {
            case .unix: .unix(name: "tidegauge-\(getpid())-\(UInt64.random(in: 0 ... .max))")
            case .tcp: .tcp(port: 0)
            }
        let socket = try make(asked)
        guard asked.call({ bind(socket.descriptor, $0, $1) }) == 0 else { throw SocketError("bind") }
        guard listen(socket.descriptor, 4_096) == 0 else { throw SocketError("listen") }
        guard case .tcp = asked else { return (socket, asked) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &length) }
        }
        guard code == 0 else { throw SocketError("getsockname") }
        return (socket, .tcp(port: UInt16(bigEndian: address.sin_port)))
    }

    static func connected(to address: SocketAddress) throws -> Socket {
        let socket = try make(address)
        guard address.call({ connect(socket.descriptor, $0, $1) }) == 0 else { throw SocketError("connect") }
        socket.sendAtOnce()
        return socket
    }

    func accepted() throws -> Socket {
        let new = cp_accept(descriptor)
        guard new >= 0 else { throw SocketError("accept") }
        let socket = Socket(taking: new)
        socket.sendAtOnce()
        return socket
    }

    /// Disables TCP's delay before small packets. No effect on other sockets.
    private func sendAtOnce() {
        var on: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends all bytes.
    func send(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let sent = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { throw SocketError("send") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(sent))
        }
    }

    /// Receives the available bytes, or waits for some.
    /// - Returns: the number of bytes; 0 at the end.
    func receive(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SocketError("recv") }
            return count
        }
    }

    /// Ends the stream for both sides; waiting threads return. Any thread.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
