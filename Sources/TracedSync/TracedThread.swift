// A named thread that can be joined, which Foundation's cannot. The body is released on the new thread.
import CPlatform
import Glibc

/// A thread running one closure. Joined or detached once.
public final class TracedThread: @unchecked Sendable {
    public let resource: TracedResource
    private let handle: pthread_t

    private final class Start {
        let name: String
        let resource: TracedResource
        let body: () -> Void
        init(_ name: String, _ resource: TracedResource, _ body: @escaping () -> Void) {
            self.name = name
            self.resource = resource
            self.body = body
        }
    }

    /// Starts the thread.
    /// - Parameter name: as the kernel shows it; only its first 15 bytes are kept there.
    public init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let resource = TracedResource(.thread, name)
        let start = Unmanaged.passRetained(Start(name, resource, body))
        var handle = pthread_t()
        let error = pthread_create(
            &handle, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                cp_set_thread_name(start.name)
                Tracing.note(.acquired, start.resource)
                start.body()
                Tracing.note(.released, start.resource)
                return nil
            }, start.toOpaque())
        precondition(error == 0, "cannot start thread '\(name)': \(String(cString: strerror(error)))")
        self.handle = handle
        self.resource = resource
    }

    /// Waits for the body to return and frees the thread.
    public func join() {
        Tracing.note(.willWait, resource)
        pthread_join(handle, nil)
        Tracing.note(.acquired, resource)
        Tracing.note(.released, resource)
    }

    /// Waits for the body to return, unless this is the thread itself: then it is freed when its body returns.
    public func joinOrDetach() {
        if isCurrent { pthread_detach(handle) } else { join() }
    }

    /// Has the thread freed when its body returns; nobody waits for it.
    public func detach() { pthread_detach(handle) }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }
}
