// The clients of a null server. The watching thread commits what it receives to a no-op store in this process, which
// wakes the affected observers.
import StillingWellSync
import TidegaugeDriver
import TidegaugeNoopDriver

public final class NullServerStore: RowlessStore, ServedStore {
    private let server: NullServer
    private let local = NoopStore()
    private let watching: Socket
    private let watcher: TracedThread
    /// Idle connections, and connections whose received data `readers` discard.
    private let company: [Socket]
    private let readers: [TracedThread]

    init(_ configuration: ServerConfiguration) throws {
        server = try NullServer(over: configuration.transport)
        let watching = try server.connect(as: .watches)
        self.watching = watching
        let writer = DeliveryBound(local.makeWriter())
        watcher = TracedThread("null-watch") {
            Self.read(watching) { frame in
                ChangeFrame.changes(frame).withUnsafeBufferPointer { changes in
                    // A store that keeps nothing never fails.
                    _ = try? writer.value.commit(changes, locked: {})
                }
            }
        }
        let server = server
        let idle = try (0..<configuration.listeners).map { _ in try server.connect(as: .idles) }
        let watched = try (0..<configuration.slots).map { _ in try server.connect(as: .watches) }
        company = idle + watched
        readers = watched.map { socket in TracedThread("null-slot") { Self.read(socket) { _ in } } }
    }

    /// Reads frames until the stream ends or fails.
    private static func read(_ socket: Socket, _ body: (UnsafeRawBufferPointer) -> Void) {
        var frames = FrameBuffer()
        while (try? frames.take(from: socket, body)) == true {}
    }

    public func load(count: Int, item: (Int) -> Item) { local.load(count: count, item: item) }

    public func makeWriter() throws -> any StoreWriter {
        let socket = try server.connect(as: .writes)
        var frame: [UInt8] = []
        return CommittingWriter { changes, locked in
            locked()
            ChangeFrame.write(changes, into: &frame)
            try frame.withUnsafeBytes { try socket.send($0) }
            var number: Int64 = 0
            let count = try withUnsafeMutableBytes(of: &number) { try socket.receive($0) }
            guard count == MemoryLayout<Int64>.size else { throw SocketError("an answer of \(count) bytes") }
            return number + Self.firstVersion
        }
    }

    /// Version of the no-op store before the first commit: 1 when it is made, and one more after `load`.
    private static let firstVersion: Int64 = 2

    public func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) -> any DriverSubscription {
        local.subscribe(to: query, at: site, sink: sink)
    }

    public func fileBytes() -> Int { 0 }

    public func close() {
        for socket in company + [watching] { socket.shutDown() }
        for thread in readers + [watcher] { thread.join() }
        server.close()
        local.close()
    }

    /// No server process exists beside this one.
    public func serverCPU() -> [String: Int64]? { [:] }
}
