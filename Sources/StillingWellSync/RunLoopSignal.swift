// A wake-up for one run loop. `RunLoop.perform` from another thread does not wake the loop on Linux. So this is a
// CFRunLoopSource, signalled and followed by an explicit wake-up. On a thread whose schedule is being explored it is an
// entry of that thread's `ControlledLoop` instead.
//
// CFRunLoopSourceSignal, CFRunLoopWakeUp and CFRunLoopSourceInvalidate are documented as safe from any thread. The lock
// is held while the loop is woken, never while a handler runs or is released.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import StillingWellBasis

/// Calls a handler on the run loop it was made on, soon after `signal()`. Signals before the handler starts are
/// coalesced. A signal ends with its thread.
public final class RunLoopSignal: Sendable {
    /// Run loop, as reports of waits name it.
    public let resource: TracedResource
    /// Number of the loop's thread (`cp_thread_number`).
    private let thread = cp_thread_number()
    private let threadEnd = ThreadEnd.ofThisThread
    /// Source and loop. nil once the signal is invalidated or its thread has ended, and on a loop that is explored.
    private let attached = PlainMutex<Attached?>(nil)
    private let explored: (loop: any ControlledLoop, source: any LoopSource)?

    /// The wake-up, and the loop that it wakes.
    ///
    /// Unchecked because Core Foundation allows what is called of both from any thread.
    private struct Attached: @unchecked Sendable {
        let source: CFRunLoopSource
        let loop: CFRunLoop
    }

    private final class Handler {
        let resource: TracedResource
        let body: () -> Void
        init(_ resource: TracedResource, _ body: @escaping () -> Void) { (self.resource, self.body) = (resource, body) }
    }

    /// Attaches to the current thread's run loop. Ends the process with a message if no descriptors are left for it
    /// (`RunLoopRoom.isThere`).
    /// - Parameters:
    ///   - name: receiver of the signal, for messages.
    ///   - mode: mode of the loop in which the handler is called; by default all common modes.
    public init(_ name: String, mode: RunLoop.Mode = .common, handler: @escaping () -> Void) {
        resource = TracedResource.runLoopOfThisThread()
        if !RunLoopRoom.isThere {
            stopProgram(
                "no descriptors are left for the run loop of '\(name)': close files, or raise the limit of open files (ulimit -n)"
            )
        }
        if let explored = Tracing.exploration?.loop {
            self.explored = (explored, explored.add(handler))
            return
        }
        let loop = CFRunLoopGetCurrent()!
        let held = ObjectPointer.kept(Handler(resource, handler))
        var context = CFRunLoopSourceContext()
        context.info = held
        context.retain = { UnsafeRawPointer(ObjectPointer.kept(ObjectPointer.object($0!, as: Handler.self))) }
        context.release = { ObjectPointer.release($0!) }
        context.perform = { argument in
            let handler = ObjectPointer.object(argument!, as: Handler.self)
            guard Tracing.isOn else { return handler.body() }
            Tracing.report(.acquired, handler.resource, SourcePlace())
            handler.body()
            Tracing.report(.released, handler.resource, SourcePlace())
        }
        let source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)!
        CFRunLoopAddSource(loop, source, mode.asCFRunLoopMode)
        ObjectPointer.release(held)  // the source has its own reference
        explored = nil
        let new = Attached(source: source, loop: loop)
        attached.with { $0 = new }
        // The closure does not capture the signal: an object with weak references is slower to retain.
        threadEnd.add(ObjectIdentifier(self)) { [attached] in Self.detach(attached) }
    }

    deinit { threadEnd.remove(ObjectIdentifier(self)) }

    /// Signals the handler. Any thread.
    public func signal() {
        if let explored { return explored.loop.signal(explored.source) }
        if Tracing.isOn { Tracing.report(.enqueued, resource, SourcePlace()) }
        attached.with { attached in
            // Used in place, because a copy would retain and release both.
            guard attached != nil else { return }
            CFRunLoopSourceSignal(attached!.source)
            CFRunLoopWakeUp(attached!.loop)
        }
    }

    /// Detaches. If called on the loop's thread, no call of the handler starts afterwards. Otherwise one that the loop
    /// has already prepared may still start. Any thread.
    public func invalidate() {
        if let explored { return explored.loop.remove(explored.source) }
        Self.detach(attached)
    }

    private static func detach(_ attached: PlainMutex<Attached?>) {
        let taken = attached.with { attached in
            defer { attached = nil }
            return attached
        }
        guard let taken else { return }
        // The source refers to the loop without retaining it.
        withExtendedLifetime(taken.loop) { CFRunLoopSourceInvalidate(taken.source) }
    }

    /// Whether the loop runs in a mode in which the handler is called. Always true if the loop is explored.
    public var isServed: Bool {
        if explored != nil { return true }
        return attached.with { attached in
            guard let attached, let mode = CFRunLoopCopyCurrentMode(attached.loop) else { return false }
            return CFRunLoopContainsSource(attached.loop, attached.source, mode)
        }
    }

    /// Whether the calling thread runs this loop.
    public var isCurrent: Bool { cp_thread_number() == thread }
}

extension TracedResource {
    private static let runLoops = PlainMutex<[Int32: TracedResource]>([:])

    /// Returns the resource of the calling thread's run loop, shared by its signals unless the thread is renamed.
    static func runLoopOfThisThread() -> TracedResource {
        let tid = cp_thread_id()
        let name = ThreadName.current
        return runLoops.with { runLoops in
            if let known = runLoops[tid], known.name == name { return known }
            let new = TracedResource(.runLoop, name, servedBy: tid)
            // Removed with the thread, because the kernel reuses thread ids.
            if runLoops.updateValue(new, forKey: tid) == nil {
                ThreadEnd.ofThisThread.add { Self.runLoops.with { $0[tid] = nil } }
            }
            return new
        }
    }
}

extension RunLoop.Mode {
    /// Same mode for Core Foundation, which Linux does not bridge.
    public var asCFRunLoopMode: CFRunLoopMode {
        switch self {
        case .common: kCFRunLoopCommonModes
        case .default: kCFRunLoopDefaultMode
        default: CFStringCreateWithCString(kCFAllocatorDefault, rawValue, Self.utf8)
        }
    }

    /// `kCFStringEncodingUTF8`, which is not imported on Linux.
    private static let utf8: CFStringEncoding = 0x0800_0100
}
