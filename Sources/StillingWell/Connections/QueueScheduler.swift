// Delivery on a serial dispatch queue. The queue carries a mark, so that the connection can tell whether it runs there.
import Foundation
import StillingWellSync
import Synchronization

/// Delivers on a serial dispatch queue.
///
/// Unchecked because `deliver` is set once, before anyone can post.
final class QueueScheduler: RetriedScheduler, @unchecked Sendable {
    private static let key = DispatchSpecificKey<UInt64>()
    private static let lastMark = Guarded<UInt64>("queue mark", 0)

    private let queue: TracedQueue
    /// Mark stored in the queue. The queue's address cannot serve: the main queue's wrapper has a new one each time.
    private let mark: UInt64
    private let isValid = Atomic<Bool>(true)
    /// nil for the main queue, which the main thread usually serves.
    private let room: WorkerRoom?
    private var deliver: (@Sendable () -> Void)?
    let name: String

    /// Delivers on `queue`, which must be serial. Any thread; `store.connect(on: .queue(queue))` also checks it.
    init(_ queue: DispatchQueue) {
        self.queue = TracedQueue(queue)
        name = CallerPlace.name(ofQueue: queue.label)
        // `DispatchQueue.main` makes a new object at each call.
        room = queue.label == DispatchQueue.main.label ? nil : WorkerRoom()
        mark = Self.lastMark.withLock { last in
            if let known = queue.getSpecific(key: Self.key) { return known }
            last += 1
            queue.setSpecific(key: Self.key, value: last)
            return last
        }
    }

    func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }

    var isHeldBack: Bool { room?.isMissing ?? false }

    func post() {
        if let room, !room.look(for: name) { return }
        queue.async { [self] in if isValid.load(ordering: .acquiring) { deliver?() } }
    }

    func invalidate() { isValid.store(false, ordering: .releasing) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == mark }
}

/// Tells serial from concurrent queues, for which libdispatch has no function. Compares the class pointer at the start
/// of the queue object with those of a serial and a concurrent queue. System queues are known by their labels.
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
