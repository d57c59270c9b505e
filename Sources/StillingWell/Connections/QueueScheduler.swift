// Delivery on a serial dispatch queue. The queue is marked, so that the connection can tell whether it runs on it.
import Foundation
import StillingWellSync
import Synchronization

/// Delivers on a serial dispatch queue.
///
/// Unchecked because `deliver` is set once, before anyone can post.
public final class QueueScheduler: RetriedScheduler, @unchecked Sendable {
    private static let key = DispatchSpecificKey<UInt64>()
    private static let lastMark = Guarded<UInt64>("queue mark", 0)

    private let queue: TracedQueue
    /// What the queue is marked with. Its address would not do: the main queue has another one each time.
    private let mark: UInt64
    private let isValid = Atomic<Bool>(true)
    /// nil for the main queue, which the main thread serves.
    private let room: WorkerRoom?
    private var deliver: (@Sendable () -> Void)?
    public let name: String

    /// Delivers on `queue`, which must be serial. Any thread; `store.connect(on: .queue(queue))` also checks it.
    public init(_ queue: DispatchQueue) {
        self.queue = TracedQueue(queue)
        name = CallerPlace.name(ofQueue: queue.label)
        room = queue === DispatchQueue.main ? nil : WorkerRoom()
        mark = Self.lastMark.withLock { last in
            if let known = queue.getSpecific(key: Self.key) { return known }
            last += 1
            queue.setSpecific(key: Self.key, value: last)
            return last
        }
    }

    public func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }

    package var isHeldBack: Bool { room?.isMissing ?? false }

    public func post() {
        if let room, !room.look(for: name) { return }
        queue.async { [self] in if isValid.load(ordering: .acquiring) { deliver?() } }
    }

    public func invalidate() { isValid.store(false, ordering: .releasing) }

    public var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == mark }
}

/// Whether a queue runs several blocks at once, which libdispatch has no function for. Its objects begin with a pointer to
/// their class, as a queue made to be serial and one made to be concurrent show; if they do not differ, nothing is known.
enum QueueKind {
    private static let serial = classWord(DispatchQueue(label: "serial"))
    private static let concurrent = classWord(DispatchQueue(label: "concurrent", attributes: .concurrent))

    static func isConcurrent(_ queue: DispatchQueue) -> Bool {
        if CallerPlace.isConcurrentLabel(queue.label) { return true }
        guard let serial, let concurrent, serial != concurrent else { return false }
        return classWord(queue) == concurrent
    }

    private static func classWord(_ queue: DispatchQueue) -> UInt? {
        let object = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }?.value
        return (object as? OpaquePointer).map { UnsafePointer<UInt>($0).pointee }
    }
}
