// A serial dispatch queue whose hand-offs are visible, and which can say whether the caller runs on it.
import Foundation

/// Runs blocks one at a time, in order. Any thread.
public final class TracedQueue: @unchecked Sendable {
    public let resource: TracedResource
    public let queue: DispatchQueue

    /// Makes a new serial queue.
    public init(_ name: String) {
        resource = TracedResource(.queue, name)
        queue = DispatchQueue(label: name)
    }

    /// Watches a queue made elsewhere, which must be serial.
    public init(_ queue: DispatchQueue) {
        resource = TracedResource(.queue, queue.label)
        self.queue = queue
    }

    public func async(_ block: @escaping @Sendable () -> Void) {
        Tracing.note(.enqueued, resource)
        queue.async { [resource] in
            Tracing.note(.acquired, resource)
            block()
            Tracing.note(.released, resource)
        }
    }

    public func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
        Tracing.note(.willWait, resource)
        return try queue.sync {
            Tracing.note(.acquired, resource)
            defer { Tracing.note(.released, resource) }
            return try block()
        }
    }
}
