// A serial dispatch queue whose hand-offs are visible, and which can say whether the caller runs on it. What stands for
// the queue in traces is kept on the queue itself: all who watch one queue speak of one resource.
import CStillingWellPlatform
import Foundation

/// Runs blocks one at a time, in order. Any thread.
public final class TracedQueue: Sendable {
    public let resource: TracedResource
    public let queue: DispatchQueue

    private static let key = DispatchSpecificKey<TracedResource>()
    /// Two who come upon a new queue at a time are to agree.
    private static let marking = PlainMutex(())

    /// Makes a new serial queue.
    public convenience init(_ name: String) { self.init(DispatchQueue(label: name)) }

    /// Watches a queue made elsewhere, which must be serial.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        resource = Self.marking.with { _ in
            if let known = queue.getSpecific(key: Self.key) { return known }
            let isMain = queue === DispatchQueue.main || queue.label == "com.apple.main-thread"
            // The main queue is served by the thread the process began with, and by no other.
            let new = TracedResource(.queue, isMain ? "main" : queue.label, servedBy: isMain ? getpid() : 0)
            queue.setSpecific(key: Self.key, value: new)
            return new
        }
    }

    /// That of the queue whose block the caller is.
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

    /// Waits for its turn, and for the block.
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
