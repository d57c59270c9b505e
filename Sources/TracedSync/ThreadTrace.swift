// What one thread holds, waits for and has done last. Written by the thread, read by whoever takes a snapshot.
//
// Each trace is guarded by a mutex of its own, which only a snapshot ever contends; `registry` guards the list of them.
// Neither is traced: they would report themselves.
import CPlatform
import Glibc
import Synchronization

final class ThreadTrace: @unchecked Sendable {
    /// What is kept of the past.
    static let eventCapacity = 64

    struct Entry {
        var resource: TracedResource
        var place: SourcePlace
        var sinceNs: Int64
        /// Of a wait: the queue whose block waits.
        var queue: TracedResource?
    }

    struct Event {
        var kind: TracedEvent
        var resource: TracedResource
        var place: SourcePlace?
        var atNs: Int64
    }

    let tid: Int32
    private let lock = PlainMutex()
    private var name: String
    private var holds: [Entry] = []
    /// The innermost is the one the thread stands at; a queue's wait may have a mutex's inside.
    private var waits: [Entry] = []
    private var events: [Event] = []
    private var nextEvent = 0

    private init() {
        tid = cp_thread_id()
        name = ThreadName.current
        holds.reserveCapacity(8)
        events.reserveCapacity(Self.eventCapacity)
    }

    // MARK: The thread itself

    func willWait(_ resource: TracedResource, _ place: SourcePlace) {
        let nowNs = Self.nowNs()
        // A block that came to a queue by other ways than `TracedQueue` occupies it all the same.
        let queue = TracedQueue.currentResource
        // Whoever sees this wait, in a circle for instance, finds the order it was asked for in as well.
        let held = lock.with { holds }
        LockOrder.shared.add(held, resource, place, self)
        lock.with {
            waits.append(Entry(resource: resource, place: place, sinceNs: nowNs, queue: queue))
            keep(Event(kind: .willWait, resource: resource, place: place, atNs: nowNs))
        }
    }

    func acquired(_ resource: TracedResource, _ place: SourcePlace) {
        let nowNs = Self.nowNs()
        let held = lock.with { () -> [Entry] in
            if let index = waits.lastIndex(where: { $0.resource == resource }) { waits.remove(at: index) }
            defer { holds.append(Entry(resource: resource, place: place, sinceNs: nowNs)) }
            keep(Event(kind: .acquired, resource: resource, place: place, atNs: nowNs))
            return holds
        }
        if !held.isEmpty { LockOrder.shared.add(held, resource, place, self) }
    }

    func gaveUp(_ resource: TracedResource) {
        lock.with {
            if let index = waits.lastIndex(where: { $0.resource == resource }) { waits.remove(at: index) }
            keep(Event(kind: .gaveUp, resource: resource, place: nil, atNs: Self.nowNs()))
        }
    }

    func released(_ resource: TracedResource) {
        lock.with {
            // What was taken before recording began is not known here.
            if let index = holds.lastIndex(where: { $0.resource == resource }) { holds.remove(at: index) }
            keep(Event(kind: .released, resource: resource, place: nil, atNs: Self.nowNs()))
        }
    }

    func enqueued(_ resource: TracedResource) {
        lock.with { keep(Event(kind: .enqueued, resource: resource, place: nil, atNs: Self.nowNs())) }
    }

    func rename(_ newName: String) { lock.with { name = newName } }

    private func keep(_ event: Event) {
        if events.count < Self.eventCapacity {
            events.append(event)
        } else {
            events[nextEvent] = event
        }
        nextEvent = (nextEvent + 1) % Self.eventCapacity
    }

    // MARK: Anybody

    func copy() -> (name: String, holds: [Entry], wait: Entry?, events: [Event]) {
        lock.with {
            let ordered =
                events.count < Self.eventCapacity
                ? events : Array(events[nextEvent...] + events[..<nextEvent])
            return (name, holds, waits.last, ordered)
        }
    }

    // MARK: All of them

    private static let registry = PlainMutex()
    nonisolated(unsafe) private static var all: [ThreadTrace] = []
    /// Traces of an earlier recording are not those of this one.
    private static let newest = Atomic<Int>(0)
    /// The thread's own.
    private var generation = 0

    static func prepare() {
        cp_on_trace_release { pointer in
            guard let pointer else { return }
            let trace = Unmanaged<ThreadTrace>.fromOpaque(pointer).takeRetainedValue()
            ThreadTrace.registry.with { ThreadTrace.all.removeAll { $0 === trace } }
        }
    }

    static var current: ThreadTrace {
        if let known = cp_trace_slot(0) {
            let trace = Unmanaged<ThreadTrace>.fromOpaque(known).takeUnretainedValue()
            if trace.generation == newest.load(ordering: .acquiring) { return trace }
            trace.restart()
            return trace
        }
        let trace = ThreadTrace()
        cp_set_trace_slot(0, Unmanaged.passRetained(trace).toOpaque())
        registry.with {
            trace.generation = newest.load(ordering: .relaxed)
            all.append(trace)
        }
        return trace
    }

    private func restart() {
        lock.with {
            holds = []
            waits = []
            events = []
            nextEvent = 0
            name = ThreadName.current
        }
        Self.registry.with {
            generation = Self.newest.load(ordering: .relaxed)
            if !Self.all.contains(where: { $0 === self }) { Self.all.append(self) }
        }
    }

    static func forgetAll() {
        registry.with {
            newest.add(1, ordering: .acquiringAndReleasing)
            all = []
        }
    }

    static func everyone() -> [ThreadTrace] { registry.with { all } }

    static func nowNs() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A mutex that is not traced.
final class PlainMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func with<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// The name of the calling thread, as the kernel has it: 15 bytes.
enum ThreadName {
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 16)
        cp_get_thread_name(&bytes)
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
