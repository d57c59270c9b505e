// A relay to a server on this machine that simulates a bad network. It delays everything in both directions and resets
// connections. Its thread owns the sockets.
import Glibc
import StillingWellSync
import StillingWellTestThreads
import TidegaugeMeasure

final class TCPRelay: Sendable {
    private struct Orders {
        var resets = false
        var isOver = false
    }

    /// Port on the loopback interface.
    let port: UInt16
    private let bell: (ear: Int32, hand: Int32)
    private let orders = Guarded("relay", Orders())
    private let thread: TracedThread

    /// - Parameters:
    ///   - server: the server's port on the loopback interface.
    ///   - delayNs: delay in ns in either direction.
    init(to server: UInt16, delayNs: Int64) throws {
        let door = Self.socket()
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(door, $0, length) == 0 && getsockname(door, $0, &length) == 0 && listen(door, 64) == 0
            }
        }
        var ends: [Int32] = [0, 0]
        guard isOpen, pipe(&ends) == 0 else { throw RelayError(errno: errno) }
        (port, bell) = (UInt16(bigEndian: address.sin_port), (ends[0], ends[1]))
        let (ear, orders) = (ends[0], orders)
        thread = TracedThread("relay") {
            var pairs: [Pair] = []
            while true {
                let dueNs = pairs.flatMap { [$0.there.dueNs, $0.back.dueNs] }.compactMap { $0 }.min()
                var waiting = [ear, door].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                waiting += pairs.flatMap { [$0.there.pollable, $0.back.pollable] }
                poll(&waiting, nfds_t(waiting.count), Way.waitMs(dueNs))
                if waiting[0].revents != 0 {
                    var byte: UInt8 = 0
                    _ = read(ear, &byte, 1)
                }
                let order = orders.withLock { orders in
                    defer { orders.resets = false }
                    return orders
                }
                if order.resets || order.isOver {
                    for pair in pairs { pair.reset() }
                    pairs = []
                    if order.isOver { break }
                    continue
                }
                for index in pairs.indices {
                    if waiting[2 + 2 * index].revents != 0 { pairs[index].there.read(delayNs) }
                    if waiting[3 + 2 * index].revents != 0 { pairs[index].back.read(delayNs) }
                    pairs[index].there.write()
                    pairs[index].back.write()
                }
                for pair in pairs where pair.isOver { pair.close() }
                pairs.removeAll(where: \.isOver)
                if waiting[1].revents != 0, let pair = Pair(door, server) { pairs.append(pair) }
            }
            close(door)
        }
    }

    /// Ends every connection like a router that has lost it: neither end gets an orderly end.
    func reset() { order { $0.resets = true } }

    func stop() {
        order { $0.isOver = true }
        thread.join()
        close(bell.ear)
        close(bell.hand)
    }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        var byte: UInt8 = 0
        _ = write(bell.hand, &byte, 1)
    }

    fileprivate static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    fileprivate static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return address
    }
}

struct RelayError: Error { let errno: Int32 }

/// An accepted connection, and its connection to the server.
private struct Pair {
    var there: Way
    var back: Way

    /// Returns nil if either connection cannot be made.
    init?(_ door: Int32, _ server: UInt16) {
        let client = accept(door, nil, nil)
        guard client >= 0 else { return nil }
        let upstream = TCPRelay.socket()
        var address = TCPRelay.loopback(server)
        let isMade = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        (there, back) = (Way(from: client, to: upstream), Way(from: upstream, to: client))
        if !isMade {
            reset()
            return nil
        }
        var on: Int32 = 1
        for end in [client, upstream] {
            setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    var isOver: Bool { there.isOver || back.isOver }

    func close() { for end in [there.from, back.from] { Glibc.close(end) } }

    func reset() {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        for end in [there.from, back.from] {
            setsockopt(end, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        }
        close()
    }
}

/// One direction. Bytes wait until they are due.
private struct Way {
    let from: Int32
    let to: Int32
    private var parts: [(dueNs: Int64, bytes: [UInt8])] = []
    private var isAtEnd = false

    init(from: Int32, to: Int32) { (self.from, self.to) = (from, to) }

    static func waitMs(_ dueNs: Int64?) -> Int32 {
        dueNs.map { Int32(max(0, ($0 - MonotonicClock.nowNs() + 999_999) / 1_000_000)) } ?? -1
    }

    var isOver: Bool { isAtEnd && parts.isEmpty }
    var dueNs: Int64? { parts.first?.dueNs }
    var pollable: pollfd { pollfd(fd: isAtEnd ? -1 : from, events: Int16(POLLIN), revents: 0) }

    mutating func read(_ delayNs: Int64) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(from, &buffer, buffer.count, 0)
        isAtEnd = count <= 0
        if count > 0 { parts.append((MonotonicClock.nowNs() + delayNs, Array(buffer[..<count]))) }
    }

    mutating func write() {
        while let part = parts.first, part.dueNs <= MonotonicClock.nowNs() {
            parts.removeFirst()
            var rest = part.bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                // A closed peer is detected by reading from it.
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
