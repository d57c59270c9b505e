// The switch. Off, an operation of this module pays one relaxed load and nothing else; on, the hook is told of it (`TracingHook`).
//
// The mode is one word of `CStillingWellPlatform`, so that it is read where the operation is inlined.
import CStillingWellPlatform

public enum Tracing {
    package enum Mode {
        package static let off: UInt32 = 0
        package static let recording: UInt32 = 1
        package static let exploring: UInt32 = 2
    }

    /// Whether anything is looked at.
    @inlinable
    public static var isOn: Bool {
        @inline(__always) get { cp_trace_mode() != 0 }
    }

    /// Whether schedules are being explored, so that real time means nothing to threads under control.
    public static var isExploring: Bool { cp_trace_mode() == Mode.exploring }

    // MARK: Resources of other modules

    /// Reports for a resource this module does not implement itself, such as a lock shared between processes.
    @inlinable
    @inline(__always)
    public static func note(
        _ event: TracedEvent, on resource: @autoclosure () -> TracedResource, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) {
        if isOn { report(event, resource(), SourcePlace(file, line)) }
    }

    @usableFromInline
    @inline(never)
    static func report(_ event: TracedEvent, _ resource: TracedResource, _ place: SourcePlace) {
        guard let hook else { return }
        if let control = hook.control {
            switch event {
            case .willWait: control.acquire(resource, isReentrant: true)
            case .released, .gaveUp: control.release(resource)
            case .acquired, .enqueued: break
            }
        }
        hook.note(event, resource, place)
    }

    /// A place where another thread may step in that takes no lock: an atomic that several threads decide by.
    @inlinable
    @inline(__always)
    public static func step() {
        if isOn { stepOfThisThread() }
    }

    @usableFromInline
    static func stepOfThisThread() { control?.step() }

    /// While schedules are explored: waits until something that no traced operation announces has happened.
    /// - Parameter mayTimeOut: it goes on all the same when nobody else can.
    /// - Returns: false where the caller has to wait by itself, because its thread is not under control.
    public static func wait(for resource: TracedResource, mayTimeOut: Bool, until isDone: @escaping () -> Bool) -> Bool
    {
        guard let control else { return false }
        control.wait(for: resource, mayTimeOut: mayTimeOut, until: isDone)
        return true
    }
}

/// What happens between a thread and a resource.
public enum TracedEvent: UInt8, Sendable {
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
