// A wake-up for one run loop. `RunLoop.perform` from another thread does not wake the loop on Linux, so this is a
// CFRunLoopSource, signalled and followed by an explicit wake-up.
//
// `source` and `loop` are immutable; CFRunLoopSourceSignal, CFRunLoopWakeUp and CFRunLoopSourceInvalidate are
// documented as safe from any thread.
import CoreFoundation
import Foundation

/// Calls a handler on the run loop it was made on, soon after `signal()`. Signals that come before the handler starts
/// are one call.
public final class RunLoopSignal: @unchecked Sendable {
    public let resource: TracedResource
    private let source: CFRunLoopSource
    private let loop: CFRunLoop

    private final class Handler {
        let resource: TracedResource
        let body: () -> Void
        init(_ resource: TracedResource, _ body: @escaping () -> Void) {
            self.resource = resource
            self.body = body
        }
    }

    /// Attaches to the current thread's run loop.
    /// - Parameter mode: the handler is called while the loop is in this mode; by default in any of the common ones.
    public init(_ name: String, mode: RunLoop.Mode = .common, handler: @escaping () -> Void) {
        resource = TracedResource(.runLoop, name)
        let held = Unmanaged.passRetained(Handler(resource, handler))
        var context = CFRunLoopSourceContext()
        context.info = held.toOpaque()
        context.retain = { UnsafeRawPointer(Unmanaged<Handler>.fromOpaque($0!).retain().toOpaque()) }
        context.release = { Unmanaged<Handler>.fromOpaque($0!).release() }
        context.perform = { argument in
            let handler = Unmanaged<Handler>.fromOpaque(argument!).takeUnretainedValue()
            Tracing.note(.acquired, handler.resource)
            handler.body()
            Tracing.note(.released, handler.resource)
        }
        source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
        loop = CFRunLoopGetCurrent()
        CFRunLoopAddSource(loop, source, mode.asCFRunLoopMode)
        held.release()  // the source has its own reference
    }

    /// Any thread.
    public func signal() {
        Tracing.note(.enqueued, resource)
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
    }

    /// Detaches; the handler is not called again once a call that is running has returned. Any thread.
    public func invalidate() { CFRunLoopSourceInvalidate(source) }

    /// Whether the loop is in a mode in which the handler may be called.
    public var isServed: Bool {
        CFRunLoopCopyCurrentMode(loop).map { CFRunLoopContainsSource(loop, source, $0) } ?? false
    }

    /// Whether the calling thread runs this loop.
    public var isCurrent: Bool { CFRunLoopGetCurrent() === loop }
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
