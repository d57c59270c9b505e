// The tracing switch. If it is off, tracing adds relaxed loads of the mode to an operation. If it is on, the operation
// is reported to the hook (`TracingHook`). While schedules are explored, the hook also chooses which of its threads
// continues, to try out their interleavings.
//
// The mode is a word of `CStillingWellPlatform`, so that it is read where operations are inlined.
import CStillingWellPlatform

public enum Tracing {
    package enum Mode {
        package static let off: UInt32 = 0
        package static let recording: UInt32 = 1
        package static let exploring: UInt32 = 2
    }

    /// Whether tracing is on in any mode.
    @inlinable
    public static var isOn: Bool {
        @inline(__always) get { cp_trace_mode() != 0 }
    }

    /// Whether schedules are being explored.
    public static var isExploring: Bool { cp_trace_mode() == Mode.exploring }

    // MARK: Resources of other modules

    /// Reports an event of a resource that this module does not implement, such as a lock shared between processes.
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

    /// Marks a point where another thread may run although no lock is taken, such as an access to an atomic that
    /// several threads use.
    @inlinable
    @inline(__always)
    public static func step() {
        if isOn { stepOfThisThread() }
    }

    @usableFromInline
    static func stepOfThisThread() { control?.step() }

    /// While schedules are explored: waits for an event that no traced operation announces.
    /// - Parameter mayTimeOut: whether the thread continues if no other thread can.
    /// - Returns: false if the thread is not controlled. The caller must then wait itself.
    public static func wait(for resource: TracedResource, mayTimeOut: Bool, until isDone: @escaping () -> Bool) -> Bool
    {
        guard let control else { return false }
        control.wait(for: resource, mayTimeOut: mayTimeOut, until: isDone)
        return true
    }
}

/// An event between a thread and a resource.
public enum TracedEvent: UInt8, Sendable {
    /// The thread is about to wait. May also be sent if it then need not wait.
    case willWait
    /// The thread holds the resource. For a queue or run loop: it starts to run a block. For a thread: it starts.
    case acquired
    /// The thread stopped waiting without holding the resource: after a signal, the end of a thread, a time-out or an
    /// error.
    case gaveUp
    case released
    /// Work was queued on a queue or run loop.
    case enqueued
}
