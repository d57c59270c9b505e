// Delivery contexts of connections: the main run loop, threads with a run loop, serial queues and custom schedulers.
// Actors and executors are in Place+Tasks.swift. A delivery context finds out without the store whether the caller runs
// on it.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import StillingWell
import StillingWellSync
import Synchronization

enum PlaceKind: Int, CaseIterable, Sendable {
    case main, mainQueue, thread, queue
    /// A custom scheduler that delivers one at a time on changing threads, sometimes without a request.
    case hopping
    case actor, executor

    var ordinal: Int { rawValue }
    var isMainThread: Bool { self == .main || self == .mainQueue }

    var name: String {
        switch self {
        case .main: "main run loop"
        case .mainQueue: "main queue"
        case .thread: "run-loop thread"
        case .queue: "serial queue"
        case .hopping: "custom scheduler"
        case .actor: "actor"
        case .executor: "executor"
        }
    }
}

protocol Place: AnyObject, Sendable {
    var name: String { get }
    /// Runs `block` on the delivery context. The order of blocks is not defined. May be called on any thread.
    func perform(_ block: @escaping @Sendable () -> Void)
    /// Whether the caller runs on the delivery context.
    var isHere: Bool { get }
    /// Notes that a callback begins. Returns whether it runs on the delivery context. `isHere` is valid until
    /// `callbackEnds`.
    func callbackBegins() -> Bool
    func callbackEnds()
    /// Opens a connection. Must be called on the delivery context.
    func connect(_ store: Store) throws -> Connection
    /// Ends the delivery context. Must not be called on it.
    func stop()
}

extension Place {
    func callbackBegins() -> Bool { isHere }
    func callbackEnds() {}

    /// Runs `block` on the delivery context and waits. Returns false if it has not run within `seconds`.
    func performAndWait(seconds: Double, _ block: @escaping @Sendable () -> Void) -> Bool {
        let done = Flag("perform and wait")
        perform {
            block()
            done.raise()
        }
        return done.wait(seconds: seconds)
    }
}

/// The main thread's run loop.
final class MainPlace: Place, @unchecked Sendable {
    let name = PlaceKind.main.name
    private let inbox = TracedMutex("main inbox")
    private var blocks: [@Sendable () -> Void] = []
    private var wake: RunLoopSignal?
    private let loop = CFRunLoopGetCurrent()
    private let thread = cp_thread_id()

    /// Must be called on the main thread.
    init() { wake = RunLoopSignal(name) { [unowned self] in drain() } }

    private func drain() {
        let taken = inbox.withLock {
            defer { blocks = [] }
            return blocks
        }
        for block in taken { block() }
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        inbox.withLock { blocks.append(block) }
        wake?.signal()
    }

    var isHere: Bool { cp_thread_id() == thread }
    func connect(_ store: Store) throws -> Connection { try store.connect(on: .runLoop) }

    /// Runs the loop until `stop`. Must be called on the main thread.
    func run() { CFRunLoopRun() }
    func stop() { perform { CFRunLoopStop(CFRunLoopGetCurrent()) } }
}

final class ThreadPlace: Place, @unchecked Sendable {
    let name: String
    private let thread: RunLoopThread

    init(_ name: String) {
        self.name = name
        thread = RunLoopThread(name)
    }

    func perform(_ block: @escaping @Sendable () -> Void) { thread.perform(block) }
    var isHere: Bool { thread.isCurrent }
    func connect(_ store: Store) throws -> Connection { try store.connect(on: .runLoop) }
    func stop() { thread.stop() }
}

final class QueuePlace: Place, @unchecked Sendable {
    private static let mark = DispatchSpecificKey<ObjectIdentifier>()
    let name: String
    private let queue: TracedQueue

    init(_ name: String) {
        self.name = name
        queue = TracedQueue(name)
        queue.queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self))
    }

    func perform(_ block: @escaping @Sendable () -> Void) { queue.async(block) }
    var isHere: Bool { DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self) }
    func connect(_ store: Store) throws -> Connection { try store.connect(on: .queue(queue.queue)) }
    func stop() {}
}

/// Runs blocks one at a time, a few on each thread it gets from the pool. `inbox` guards `blocks` and `isRunning`.
final class HoppingPlace: Place, @unchecked Sendable {
    let name: String
    private static let blocksPerHop = 4
    private let inbox = TracedMutex("hopping inbox")
    private var blocks: [@Sendable () -> Void] = []
    private var isRunning = false
    private let runner = Atomic<Int32>(0)

    init(_ name: String) { self.name = name }

    func perform(_ block: @escaping @Sendable () -> Void) {
        let mustStart = inbox.withLock { () -> Bool in
            blocks.append(block)
            defer { isRunning = true }
            return !isRunning
        }
        if mustStart { hop() }
    }

    private func hop() { DispatchQueue.global().async { [self] in drain() } }

    private func drain() {
        runner.store(cp_thread_id(), ordering: .sequentiallyConsistent)
        for _ in 0..<Self.blocksPerHop {
            guard let block = inbox.withLock({ blocks.isEmpty ? nil : blocks.removeFirst() }) else { break }
            block()
        }
        runner.store(0, ordering: .sequentiallyConsistent)
        let mustGoOn = inbox.withLock { () -> Bool in
            isRunning = !blocks.isEmpty
            return isRunning
        }
        if mustGoOn { hop() }
    }

    var isHere: Bool { runner.load(ordering: .sequentiallyConsistent) == cp_thread_id() }

    func connect(_ store: Store) throws -> Connection {
        try store.connect(on: .scheduler(RestlessScheduler(self)))
    }

    func stop() {}
}

/// Delivers on a delivery context. About every fourth request is answered twice, which a store has to bear.
final class RestlessScheduler: Scheduler, @unchecked Sendable {
    private let place: HoppingPlace
    private let posts = Counter()
    private let isValid = Atomic<Bool>(true)
    /// Written before the first post.
    private var deliver: (@Sendable () -> Void)?
    var name: String { place.name }

    init(_ place: HoppingPlace) { self.place = place }

    func setDelivery(_ deliver: @escaping @Sendable () -> Void) { self.deliver = deliver }

    func post() {
        posts.add()
        for _ in 0..<(posts.value % 4 == 0 ? 2 : 1) {
            place.perform { [self] in
                if isValid.load(ordering: .acquiring) { deliver?() }
            }
        }
    }

    func invalidate() { isValid.store(false, ordering: .releasing) }
    var isCurrent: Bool { place.isHere }
}
