// A wake-up for one run loop. `RunLoop.perform` from another thread does not wake the loop on Linux, so this is a
// CFRunLoopSource, signalled and followed by an explicit wake-up. On a thread whose schedule is being explored it is an
// entry in the list of that thread's `ExploredLoop` instead.
//
// CFRunLoopSourceSignal, CFRunLoopWakeUp and CFRunLoopSourceInvalidate are documented as safe from any thread.
import Basis
import CPlatform
import CoreFoundation
import Foundation

/// Calls a handler on the run loop it was made on, soon after `signal()`. Signals that come before the handler starts
/// are one call.
public final class RunLoopSignal: Sendable {
    /// The run loop: all signals of one speak of the same.
    public let resource: TracedResource
    /// Both are called as Core Foundation allows from any thread.
    nonisolated(unsafe) private let loop: CFRunLoop
    nonisolated(unsafe) private let way: Way

    private enum Way {
        case source(CFRunLoopSource)
        case explored(ExploredLoop, ExploredLoop.Source)
    }

    private final class Handler {
        let resource: TracedResource
        let body: () -> Void
        init(_ resource: TracedResource, _ body: @escaping () -> Void) { (self.resource, self.body) = (resource, body) }
    }

    /// Attaches to the current thread's run loop. Ends the process, saying why, if the thread has none and no descriptors are left for one.
    /// - Parameters:
    ///   - name: who is called, for people.
    ///   - mode: the handler is called while the loop is in this mode; by default in any of the common ones.
    public init(_ name: String, mode: RunLoop.Mode = .common, handler: @escaping () -> Void) {
        resource = TracedResource.runLoopOfThisThread()
        if !RunLoopRoom.isThere {
            stopProgram(
                "no descriptors are left for the run loop of '\(name)': close files, or raise the limit of open files (ulimit -n)"
            )
        }
        loop = CFRunLoopGetCurrent()
        if let explored = ExploredLoop.ofThisThread {
            way = .explored(explored, explored.add(handler))
            return
        }
        let held = Unmanaged.passRetained(Handler(resource, handler))
        var context = CFRunLoopSourceContext()
        context.info = held.toOpaque()
        context.retain = { UnsafeRawPointer(Unmanaged<Handler>.fromOpaque($0!).retain().toOpaque()) }
        context.release = { Unmanaged<Handler>.fromOpaque($0!).release() }
        context.perform = { argument in
            let handler = Unmanaged<Handler>.fromOpaque(argument!).takeUnretainedValue()
            guard Tracing.isOn else { return handler.body() }
            Tracing.report(.acquired, handler.resource, SourcePlace())
            handler.body()
            Tracing.report(.released, handler.resource, SourcePlace())
        }
        let source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)!
        way = .source(source)
        CFRunLoopAddSource(loop, source, mode.asCFRunLoopMode)
        held.release()  // the source has its own reference
    }

    /// Any thread.
    public func signal() {
        switch way {
        case .source(let source):
            if Tracing.isOn { Tracing.report(.enqueued, resource, SourcePlace()) }
            CFRunLoopSourceSignal(source)
            CFRunLoopWakeUp(loop)
        case .explored(let explored, let source): explored.signal(source)
        }
    }

    /// Detaches; the handler is not called again once a call that is running has returned. Any thread.
    public func invalidate() {
        switch way {
        case .source(let source): CFRunLoopSourceInvalidate(source)
        case .explored(let explored, let source): explored.remove(source)
        }
    }

    /// Whether the loop is in a mode in which the handler may be called.
    public var isServed: Bool {
        switch way {
        case .source(let source):
            CFRunLoopCopyCurrentMode(loop).map { CFRunLoopContainsSource(loop, source, $0) } ?? false
        case .explored: true
        }
    }

    /// Whether the calling thread runs this loop.
    public var isCurrent: Bool { CFRunLoopGetCurrent() === loop }
}

extension TracedResource {
    private static let runLoops = PlainMutex<[Int32: TracedResource]>([:])

    /// The run loop of the calling thread: one resource for all who signal it.
    static func runLoopOfThisThread() -> TracedResource {
        let tid = cp_thread_id()
        let name = ThreadName.current
        return runLoops.with { runLoops in
            // The kernel gives a number to another thread some day.
            if let known = runLoops[tid], known.name == name { return known }
            let new = TracedResource(.runLoop, name, servedBy: tid)
            runLoops[tid] = new
            return new
        }
    }
}

extension RunLoop.Mode {
    /// The same mode for Core Foundation, which Linux does not bridge.
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
