// Delivery contexts of Swift concurrency: an actor, a serial executor, and the main queue, on which the main actor
// runs.
import CStillingWellPlatform
import Foundation
import StillingWell
import StillingWellSync
import Synchronization

/// An actor. Swift cannot query whether the caller runs on an actor, only assert it: a callback elsewhere stops the
/// program. `runner` is the thread that runs on the actor now, as recorded by `perform` and by callbacks. `outer` is
/// isolated to the actor.
final class ActorPlace: Place, @unchecked Sendable {
    private actor Resident {
        func run(_ block: @Sendable () -> Void) { block() }
    }

    let name: String
    private let resident = Resident()
    private let runner = Atomic<Int32>(0)
    private var outer: [Int32] = []

    init(_ name: String) { self.name = name }

    func perform(_ block: @escaping @Sendable () -> Void) {
        Task { [self] in
            await resident.run {
                let before = runner.exchange(cp_thread_id(), ordering: .sequentiallyConsistent)
                block()
                runner.store(before, ordering: .sequentiallyConsistent)
            }
        }
    }

    var isHere: Bool { runner.load(ordering: .sequentiallyConsistent) == cp_thread_id() }

    func callbackBegins() -> Bool {
        resident.preconditionIsolated("a callback of \(name) was made elsewhere")
        outer.append(runner.exchange(cp_thread_id(), ordering: .sequentiallyConsistent))
        return true
    }

    func callbackEnds() { runner.store(outer.removeLast(), ordering: .sequentiallyConsistent) }

    func connect(_ store: Store) throws -> Connection { try store.connect(on: .actor(resident)) }
    func stop() {}
}

/// A serial executor made of a queue.
final class ExecutorPlace: Place, @unchecked Sendable {
    private final class QueueExecutor: SerialExecutor {
        let queue: TracedQueue

        init(_ queue: TracedQueue) { self.queue = queue }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
        }

        func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue.queue)) }
    }

    private static let mark = DispatchSpecificKey<ObjectIdentifier>()
    let name: String
    private let executor: QueueExecutor

    init(_ name: String) {
        self.name = name
        executor = QueueExecutor(TracedQueue(name))
        executor.queue.queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self))
    }

    func perform(_ block: @escaping @Sendable () -> Void) { executor.queue.async(block) }
    var isHere: Bool { DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self) }
    func connect(_ store: Store) throws -> Connection { try store.connect(on: .executor(executor)) }
    func stop() {}
}

/// The main queue, which the main thread's run loop drains.
final class MainQueuePlace: Place, @unchecked Sendable {
    let name = PlaceKind.mainQueue.name
    private let thread: Int32

    /// Must be called on the main thread.
    init() { thread = cp_thread_id() }

    func perform(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }
    var isHere: Bool { cp_thread_id() == thread }
    func connect(_ store: Store) throws -> Connection { try store.connect(on: .main) }
    func stop() {}
}
