// The echo server: one thread that receives frames from writers, answers each with its number, and forwards it to all
// watching clients in order.
import Glibc
import StillingWellSync
import TidegaugeDriver

/// A transaction on a socket: the number of changes, then their memory layout (both ends are one program).
enum ChangeFrame {
    static func write(_ changes: UnsafeBufferPointer<Change>, into frame: inout [UInt8]) {
        frame.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: UInt32(changes.count)) { frame.append(contentsOf: $0) }
        frame.append(contentsOf: UnsafeRawBufferPointer(changes))
    }

    /// Returns the length of the first frame, or nil if its header is incomplete.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return 4 + Int(bytes.loadUnaligned(as: UInt32.self)) * MemoryLayout<Change>.stride
    }

    /// Returns the changes of a complete frame.
    static func changes(_ frame: UnsafeRawBufferPointer) -> [Change] {
        let changes = frame.dropFirst(4)
        return (0..<changes.count / MemoryLayout<Change>.stride).map {
            frame.loadUnaligned(fromByteOffset: 4 + $0 * MemoryLayout<Change>.stride, as: Change.self)
        }
    }
}

/// Splits a stream into frames. Used by one thread.
struct FrameBuffer {
    private var bytes: [UInt8] = []
    private var room = [UInt8](repeating: 0, count: 1 << 16)

    /// Receives the available bytes and calls `body` with each complete frame.
    /// - Returns: false at the end of the stream.
    mutating func take(from socket: Socket, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        let count = try room.withUnsafeMutableBytes { try socket.receive($0) }
        guard count > 0 else { return false }
        bytes.append(contentsOf: room[..<count])
        var done = 0
        try bytes.withUnsafeBytes { bytes in
            while let length = ChangeFrame.length(UnsafeRawBufferPointer(rebasing: bytes[done...])),
                bytes.count - done >= length
            {
                try body(UnsafeRawBufferPointer(rebasing: bytes[done..<done + length]))
                done += length
            }
        }
        bytes.removeFirst(done)
        return true
    }
}

final class NullServer: Sendable {
    /// The first byte that a client sends.
    enum Role: UInt8 {
        case writes = 1
        case watches
        case idles
    }

    let address: SocketAddress
    private let door: Socket
    private let thread: TracedThread

    init(over transport: ServerConfiguration.Transport) throws {
        let (door, address) = try Socket.listening(over: transport)
        (self.door, self.address) = (door, address)
        thread = TracedThread("null-server") {
            var clients = NullClients(door)
            while clients.serve() {}
        }
    }

    /// Closes the server; connected clients reach the end of their streams.
    func close() {
        door.shutDown()
        thread.join()
    }

    func connect(as role: Role) throws -> Socket {
        let socket = try Socket.connected(to: address)
        try withUnsafeBytes(of: role.rawValue) { try socket.send($0) }
        return socket
    }
}

/// The clients; used by the server's thread.
private struct NullClients {
    private struct Client {
        let socket: Socket
        var role: NullServer.Role?
        var frames = FrameBuffer()
    }

    private let door: Socket
    private var clients: [Client] = []
    private var number: Int64 = 0

    init(_ door: Socket) { self.door = door }

    /// - Returns: false if no connection can be accepted, as after the listening socket has been shut down.
    mutating func serve() -> Bool {
        var places = clients.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
        places.append(pollfd(fd: door.descriptor, events: Int16(POLLIN), revents: 0))
        _ = poll(&places, nfds_t(places.count), -1)
        var gone: [Int] = []
        for index in clients.indices where places[index].revents != 0 {
            // A client whose stream has ended or failed is removed.
            if (try? serve(index)) != true { gone.append(index) }
        }
        for index in gone.reversed() { clients.remove(at: index) }
        if places[places.count - 1].revents != 0 {
            guard let socket = try? door.accepted() else { return false }
            clients.append(Client(socket: socket))
        }
        return true
    }

    private mutating func serve(_ index: Int) throws -> Bool {
        let client = clients[index]
        guard client.role != nil else {
            var role: UInt8 = 0
            guard try withUnsafeMutableBytes(of: &role, { try client.socket.receive($0) }) == 1 else { return false }
            clients[index].role = NullServer.Role(rawValue: role)
            return clients[index].role != nil
        }
        let watchers = clients.filter { $0.role == .watches }.map(\.socket)
        var number = number
        defer { self.number = number }
        return try clients[index].frames.take(from: client.socket) { frame in
            number += 1
            try withUnsafeBytes(of: number) { try client.socket.send($0) }
            // A failed connection is detected when its own client is served.
            for watcher in watchers { try? watcher.send(frame) }
        }
    }
}
