// Recording in the traces of threads, and its start and end.
import CStillingWellPlatform
import Dispatch
import StillingWellSync

/// Records events in the `ThreadTrace` of the calling thread. Controlled threads are those of `ScheduleControl`.
private final class Recorder: TracingHook {
    var control: (any ThreadControl)? { ScheduleControl.ofThisThread }

    func note(_ event: TracedEvent, _ resource: TracedResource, _ place: SourcePlace) {
        let trace = ThreadTrace.current
        switch event {
        case .willWait: trace.willWait(resource, place)
        case .acquired: trace.acquired(resource, place)
        case .gaveUp: trace.gaveUp(resource)
        case .released: trace.released(resource)
        case .enqueued: trace.enqueued(resource)
        }
    }
}

extension Tracing {
    /// Starts recording of holders, waits and lock orders. Locks that are already held have no entry. Only one
    /// recording or exploration runs at a time: waits until another one has stopped. Any thread.
    public static func start() { begin(Mode.recording) }

    private static let turn = DispatchSemaphore(value: 1)

    static func begin(_ mode: UInt32) {
        turn.wait()
        ThreadTrace.prepare()
        install(Recorder())
        cp_set_trace_mode(mode)
    }

    /// Stops recording and discards the records. A thread inside an operation may still finish its entry.
    public static func stop() {
        cp_set_trace_mode(Mode.off)
        ThreadTrace.forgetAll()
        LockOrder.shared.forget()
        turn.signal()
    }

    /// Returns the lock classes taken in contradictory orders since `start()`. Any thread.
    public static func inversions() -> [LockInversion] { LockOrder.shared.inversions() }
}
