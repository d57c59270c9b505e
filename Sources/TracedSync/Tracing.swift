// The switch and the sink through which every lock, condition, hand-off and thread of this package can be watched.
// Off, an operation pays one relaxed load. On, each one reports to the sink on the thread that performs it.
//
// `current` is the one piece of state: a pointer to a box that holds the sink, released and acquired. Boxes are never
// freed, because a thread may still be inside one; tracing is switched on a few times in a process's life.
import CPlatform
import Synchronization

/// Something a thread can hold or wait for.
public struct TracedResource: Sendable, Hashable {
    public enum Kind: String, Sendable {
        case mutex, condition, queue, runLoop, thread, fileLock
    }

    /// Unique in the process.
    public let id: UInt64
    public let kind: Kind
    /// The lock class: instances made at one place share it, such as `store write lock`.
    public let name: String

    public init(_ kind: Kind, _ name: String) {
        self.id = Self.nextID.add(1, ordering: .relaxed).newValue
        self.kind = kind
        self.name = name
    }

    private static let nextID = Atomic<UInt64>(0)

    public static func == (a: Self, b: Self) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What happens between a thread and a resource.
public enum TracedEvent: Sendable {
    /// The thread is about to wait; also sent where the wait turns out to be none.
    case willWait
    /// The thread holds the resource (a queue or run loop: it starts to run a block of it).
    case acquired
    /// The thread gave up waiting: a time-out or an error.
    case gaveUp
    case released
    /// Work was handed to a queue or a run loop.
    case enqueued
}

/// Receives events on the thread they happen on, and must neither block nor use a traced primitive.
public protocol TracedSink: AnyObject, Sendable {
    func record(_ event: TracedEvent, _ resource: TracedResource)
}

public enum Tracing {
    private final class Box: Sendable {
        let sink: any TracedSink
        init(_ sink: any TracedSink) { self.sink = sink }
    }

    /// The address of a box; 0 while tracing is off.
    private static let current = Atomic<UInt>(0)

    /// Starts reporting to `sink`, which is kept for good. Any thread.
    public static func start(_ sink: any TracedSink) {
        let box = Unmanaged.passRetained(Box(sink)).toOpaque()
        let before = current.exchange(UInt(bitPattern: box), ordering: .acquiringAndReleasing)
        precondition(before == 0, "tracing is on already: stop() it first")
    }

    /// Stops reporting. A thread that is inside the sink may still finish its call.
    public static func stop() { current.store(0, ordering: .releasing) }

    @inline(__always)
    static func note(_ event: TracedEvent, _ resource: @autoclosure () -> TracedResource) {
        if current.load(ordering: .relaxed) != 0 { report(event, resource()) }
    }

    @inline(never)
    private static func report(_ event: TracedEvent, _ resource: TracedResource) {
        guard let box = UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)) else { return }
        Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().sink.record(event, resource)
    }

    /// Reports for a resource this module does not implement itself, such as a lock shared between processes.
    @inline(__always)
    public static func note(_ event: TracedEvent, on resource: TracedResource) { note(event, resource) }
}
