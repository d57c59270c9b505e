// The switch. Off, an operation of this module pays one relaxed load and nothing else; on, it is recorded in the
// `ThreadTrace` of its thread; exploring, threads that are under control run one at a time besides (`ScheduleControl`).
//
// The mode is one word of `CStillingWellPlatform`, so that it is read where the operation is inlined.
import CStillingWellPlatform
import Dispatch

public enum Tracing {
    enum Mode {
        static let off: UInt32 = 0
        static let recording: UInt32 = 1
        static let exploring: UInt32 = 2
    }

    /// Whether anything is looked at.
    @inlinable
    public static var isOn: Bool {
        @inline(__always) get { cp_trace_mode() != 0 }
    }

    /// Whether schedules are being explored, so that real time means nothing to threads under control.
    public static var isExploring: Bool { cp_trace_mode() == Mode.exploring }

    /// Starts recording: who holds what, who waits for what, in what order lock classes are taken. What was taken before
    /// is not known. There is one recording, or exploration, at a time: waits for another to stop. Any thread.
    public static func start() { begin(Mode.recording) }

    private static let turn = DispatchSemaphore(value: 1)

    static func begin(_ mode: UInt32) {
        turn.wait()
        ThreadTrace.prepare()
        cp_set_trace_mode(mode)
    }

    /// Stops recording, and forgets. A thread that is inside an operation may still finish its entry.
    public static func stop() {
        cp_set_trace_mode(Mode.off)
        ThreadTrace.forgetAll()
        LockOrder.shared.forget()
        turn.signal()
    }

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
        if let control = ScheduleControl.ofThisThread {
            switch event {
            case .willWait: control.acquire(resource, isReentrant: true)
            case .released, .gaveUp: control.release(resource)
            case .acquired, .enqueued: break
            }
        }
        let trace = ThreadTrace.current
        switch event {
        case .willWait: trace.willWait(resource, place)
        case .acquired: trace.acquired(resource, place)
        case .gaveUp: trace.gaveUp(resource)
        case .released: trace.released(resource)
        case .enqueued: trace.enqueued(resource)
        }
    }

    /// A place where another thread may step in that takes no lock: an atomic that several threads decide by.
    @inlinable
    @inline(__always)
    public static func step() {
        if isOn { ScheduleControl.stepOfThisThread() }
    }

    /// While schedules are explored: waits until something that no traced operation announces has happened.
    /// - Parameter mayTimeOut: it goes on all the same when nobody else can.
    /// - Returns: false where the caller has to wait by itself, because its thread is not under control.
    public static func wait(for resource: TracedResource, mayTimeOut: Bool, until isDone: @escaping () -> Bool) -> Bool
    {
        guard let control = ScheduleControl.ofThisThread else { return false }
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
