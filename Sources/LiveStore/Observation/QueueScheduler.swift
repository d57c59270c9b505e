// Delivery on a serial dispatch queue. The queue is marked, so that the connection can tell whether it runs on it.
//
// `deliver` is written by `setDelivery`, before anyone can post; `isValid` is atomic.
import Foundation
import Synchronization
import TracedSync

/// Delivers on a serial dispatch queue. A concurrent queue would run deliveries at once and is not supported.
public final class QueueScheduler: Scheduler, @unchecked Sendable {
    private static let marks = DispatchSpecificKey<Set<ObjectIdentifier>>()

    private let queue: TracedQueue
    private let isValid = Atomic<Bool>(true)
    private var deliver: (@Sendable () -> Void)?
    public let name: String

    /// Call inside a block of `queue`.
    public init(_ queue: DispatchQueue) {
        self.queue = TracedQueue(queue)
        name = "queue '\(queue.label)'"
        let others = queue.getSpecific(key: Self.marks) ?? []
        queue.setSpecific(key: Self.marks, value: others.union([ObjectIdentifier(queue)]))
    }

    public func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }

    public func post() {
        queue.async { [self] in
            if isValid.load(ordering: .acquiring) { deliver?() }
        }
    }

    public func invalidate() { isValid.store(false, ordering: .releasing) }

    public var isCurrent: Bool {
        DispatchQueue.getSpecific(key: Self.marks)?.contains(ObjectIdentifier(queue.queue)) ?? false
    }
}
