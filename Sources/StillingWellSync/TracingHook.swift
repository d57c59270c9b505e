// The hook of this module: an object that receives the locks that threads hold and wait for, and may choose which
// thread continues. A program without one only pays for testing the trace mode.
import Synchronization

/// Receives events while the trace mode is not off. Any thread.
package protocol TracingHook: AnyObject, Sendable {
    /// Records an event of the calling thread.
    func note(_ event: TracedEvent, _ resource: TracedResource, _ place: SourcePlace)
    /// Control of the calling thread, or nil if the thread is not controlled.
    var control: (any ThreadControl)? { get }
}

/// Schedules the threads whose interleavings are explored. Called by controlled threads, except `register`.
package protocol ThreadControl: AnyObject, Sendable {
    /// - Parameter isReentrant: the owner may acquire it again.
    func acquire(_ resource: TracedResource, isReentrant: Bool)
    func release(_ resource: TracedResource)
    /// Releases the lock, waits for a broadcast and acquires the lock.
    /// - Returns: false if the wait timed out.
    func wait(on condition: TracedResource, giving lock: TracedResource, mayTimeOut: Bool) -> Bool
    func broadcast(_ condition: TracedResource)
    func wait(for resource: TracedResource, mayTimeOut: Bool, until isDone: @escaping () -> Bool)
    func step()

    /// The number of a thread about to be started.
    func register(_ name: String) -> Int
    /// First call of the new thread. Returns when the thread may run.
    func begin(_ number: Int)
    /// Last call of a thread.
    func end()
    func join(_ number: Int)

    /// Makes the run loop of the calling thread.
    func makeLoop() -> any ControlledLoop
    /// The run loop of the calling thread, or nil if it has made none.
    var loop: (any ControlledLoop)? { get }
}

/// A run loop of a controlled thread, in place of Core Foundation's. Any thread, except `run`.
package protocol ControlledLoop: AnyObject, Sendable {
    func add(_ handler: @escaping () -> Void) -> any LoopSource
    func signal(_ source: any LoopSource)
    func remove(_ source: any LoopSource)
    /// Calls handlers as they are signalled, until `stop()`. On the thread of the loop.
    func run()
    func stop()
}

/// A handler of a `ControlledLoop`.
package protocol LoopSource: AnyObject, Sendable {}

extension Tracing {
    private final class Installed: Sendable {
        let hook: any TracingHook

        init(_ hook: any TracingHook) { self.hook = hook }
    }

    private static let installed = AtomicLazyReference<Installed>()

    /// The hook, or nil if none was installed. Any thread.
    package static var hook: (any TracingHook)? { installed.load()?.hook }

    /// Installs the hook for the rest of the process. A later call has no effect. Any thread.
    package static func install(_ hook: any TracingHook) { _ = installed.storeIfNil(Installed(hook)) }

    /// Control of the calling thread, or nil if it has none or tracing is off.
    static var control: (any ThreadControl)? { isOn ? hook?.control : nil }

    /// Control of the calling thread while interleavings are explored, or nil.
    static var exploration: (any ThreadControl)? { isExploring ? hook?.control : nil }
}
