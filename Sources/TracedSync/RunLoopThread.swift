// A thread with a run loop of its own, kept alive until `stop()`: the place where things that need a run loop (live
// objects, notifications) can live off the main thread.
//
// `inbox` guards `blocks` and `stopped`; blocks run, and are released, on the thread without it.
import CoreFoundation
import Foundation

/// Performs blocks, in order, on a run loop of its own.
public final class RunLoopThread: @unchecked Sendable {
    private let inbox = TracedMutex("run-loop thread inbox")
    private let changed: TracedCondition
    private var blocks: [() -> Void] = []
    private var stopped = false
    private var wake: RunLoopSignal?
    private var thread: TracedThread?

    /// Starts the thread and returns once its run loop accepts blocks. Ends the process where the system starts none.
    public convenience init(_ name: String) {
        do { try self.init(starting: name) } catch { preconditionFailure("\(error)") }
    }

    /// Starts the thread and returns once its run loop accepts blocks.
    /// - Throws: `ThreadError` where the system has no room for another thread.
    public init(starting name: String) throws(ThreadError) {
        changed = TracedCondition("run-loop thread start", inbox)
        thread = try TracedThread(starting: name) { [self] in run(name) }
        inbox.withLock { while wake == nil { changed.wait() } }
    }

    private func run(_ name: String) {
        let explored = ScheduleControl.makeLoopOfThisThread()
        let signal = RunLoopSignal(name) { [unowned self] in drain() }
        inbox.withLock {
            wake = signal
            changed.broadcast()
        }
        if let explored {
            explored.run()
        } else {
            // Runs until `drain` stops it. `RunLoop.run(mode:before:)` would leave and enter the loop for every source.
            while !inbox.withLock({ stopped }) { CFRunLoopRun() }
        }
        drain()
        signal.invalidate()
    }

    private func drain() {
        let (taken, isLast) = inbox.withLock {
            defer { blocks = [] }
            return (blocks, stopped)
        }
        for block in taken { block() }
        if isLast {
            if let explored = ExploredLoop.ofThisThread {
                explored.stop()
            } else {
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
        }
    }

    /// Queues `block`; any thread. Blocks queued after `stop()` has been called may never run.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        let signal = inbox.withLock {
            blocks.append(block)
            return wake
        }
        signal?.signal()
    }

    /// Runs `block` on the thread and returns its result. On the thread itself it runs at once.
    public func performAndWait<Result: Sendable>(
        _ block: @escaping @Sendable () throws -> Result, file: StaticString = #fileID, line: UInt = #line
    ) throws -> Result {
        if isCurrent { return try block() }
        let done = TracedMutex("perform and wait")
        let finished = TracedCondition("perform and wait", done)
        nonisolated(unsafe) var outcome: Swift.Result<Result, any Error>?
        perform {
            let value = Swift.Result { try block() }
            done.withLock {
                outcome = value
                finished.broadcast()
            }
        }
        let loop = inbox.withLock { wake?.resource }
        done.withLock { while outcome == nil { finished.wait(for: loop, file, line) } }
        return try outcome!.get()
    }

    /// The run loop, as reports of waits name it.
    public var resource: TracedResource? { inbox.withLock { wake?.resource } }

    /// Ends the run loop after the blocks queued so far and waits for the thread. Once, and not on the thread itself.
    public func stop() {
        precondition(!isCurrent, "a run-loop thread cannot wait for its own end: call stop() from another thread")
        inbox.withLock { stopped = true }
        wake?.signal()
        thread?.join()
        thread = nil
        // With it goes the run loop, and the kernel's three descriptors of one.
        inbox.withLock { wake = nil }
    }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { thread?.isCurrent ?? false }
}
