// A serial dispatch queue whose hand-offs are traced, and which can tell whether the caller runs on it. Its resource is
// stored in the queue itself, so that all wrappers of a queue share it.
import CStillingWellPlatform
import Foundation

/// Runs blocks one at a time, in order. Any thread.
public final class TracedQueue: Sendable {
    public let resource: TracedResource
    public let queue: DispatchQueue

    private static let key = DispatchSpecificKey<TracedResource>()
    /// Held while a queue's resource is looked up or stored, so that two threads agree on it.
    private static let marking = PlainMutex(())

    /// Makes a serial queue.
    public convenience init(_ name: String) { self.init(DispatchQueue(label: name)) }

    /// Wraps an existing queue, which must be serial.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        resource = Self.marking.with { _ in
            if let known = queue.getSpecific(key: Self.key) { return known }
            let isMain = queue === DispatchQueue.main || queue.label == "com.apple.main-thread"
            // The main queue is usually served by the thread that the process began with.
            let new = TracedResource(.queue, isMain ? "main" : queue.label, servedBy: isMain ? getpid() : 0)
            queue.setSpecific(key: Self.key, value: new)
            return new
        }
    }

    /// Resource of the traced queue whose block the caller runs, or nil.
    package static var currentResource: TracedResource? { DispatchQueue.getSpecific(key: key) }

    public func async(_ block: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line) {
        let place = SourcePlace(file, line)
        if Tracing.isOn { Tracing.report(.enqueued, resource, place) }
        queue.async { [resource] in
            guard Tracing.isOn else { return block() }
            Tracing.report(.acquired, resource, place)
            block()
            Tracing.report(.released, resource, place)
        }
    }

    /// Runs a block on the queue and waits for it.
    public func sync<Result>(
        _ block: () throws -> Result, file: StaticString = #fileID, line: UInt = #line
    ) rethrows -> Result {
        guard Tracing.isOn else { return try queue.sync(execute: block) }
        let place = SourcePlace(file, line)
        Tracing.report(.willWait, resource, place)
        return try queue.sync {
            Tracing.report(.acquired, resource, place)
            defer { Tracing.report(.released, resource, place) }
            return try block()
        }
    }
}
