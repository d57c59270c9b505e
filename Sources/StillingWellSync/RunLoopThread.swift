// A thread with a run loop of its own, kept alive until `stop()`: the place where things that need a run loop (live
// objects, notifications) can live off the main thread.
//
// Blocks run, and are released, on the thread without the lock.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import Glibc
import StillingWellBasis

/// Performs blocks, in order, on a run loop of its own. One that runs the loop again has those that wait run meanwhile.
public final class RunLoopThread: Sendable {
    private struct State {
        /// The way to the loop; nil before it runs and after it has ended.
        var handOff: RunLoopHandOff?
        var end: RunLoopSignal?
        var isStopped = false
    }

    private let state = Guarded("run-loop thread", State())
    private let changed: TracedCondition
    /// Set by `init`, before anybody else has the object, and taken away by `stop`, after which nobody may use it.
    nonisolated(unsafe) private var thread: TracedThread?

    /// Starts the thread and returns once its run loop accepts blocks. Ends the process where the system starts none.
    public convenience init(_ name: String) {
        do { try self.init(starting: name) } catch { stopProgram("\(error)") }
    }

    /// Starts the thread and returns once its run loop accepts blocks.
    /// - Throws: `ThreadError` where the system has no room for another thread, or no descriptors for its run loop.
    public init(starting name: String) throws(ThreadError) {
        if !RunLoopRoom.hasDescriptors { throw ThreadError(name: name, code: EMFILE) }
        changed = TracedCondition("run-loop thread start", state)
        thread = try TracedThread(starting: name) { [self] in run(name) }
        state.wait(for: changed) { $0.handOff != nil }
    }

    /// The threads of this kind that run, as `cp_thread_number` has them.
    private static let running = PlainMutex<Set<UInt64>>([])

    /// Whether the calling thread is one of this kind, whichever it is.
    public static var isAnyCurrent: Bool {
        let number = cp_thread_number()
        return running.with { $0.contains(number) }
    }

    private func run(_ name: String) {
        let number = cp_thread_number()
        Self.running.with { _ = $0.insert(number) }
        defer { Self.running.with { _ = $0.remove(number) } }
        let explored = Tracing.exploration?.makeLoop()
        let handOff = RunLoopHandOff(name)
        let end = RunLoopSignal(name) { [unowned self] in endLoop() }
        state.withLock {
            $0.handOff = handOff
            $0.end = end
            changed.broadcast()
        }
        if let explored {
            explored.run()
        } else {
            // Runs until it is stopped. `RunLoop.run(mode:before:)` would leave and enter the loop for every source.
            while !state.withLock({ $0.isStopped }) { CFRunLoopRun() }
        }
        handOff.drain()
        handOff.invalidate()
        end.invalidate()
    }

    /// Ends the innermost loop, and then those it runs in.
    private func endLoop() {
        if let explored = Tracing.exploration?.loop { return explored.stop() }
        CFRunLoopStop(CFRunLoopGetCurrent())
        state.withLock { $0.end }?.signal()
    }

    /// Queues `block`; any thread. Blocks queued after `stop()` has been called may never run.
    public func perform(_ block: @escaping @Sendable () -> Void) { state.withLock { $0.handOff }?.perform(block) }

    /// Runs `block` on the thread and returns its result. On the thread itself it runs at once.
    public func performAndWait<Result: Sendable>(
        _ block: @escaping @Sendable () throws -> Result, file: StaticString = #fileID, line: UInt = #line
    ) throws -> Result {
        if isCurrent { return try block() }
        let outcome = Guarded<Swift.Result<Result, any Error>?>("perform and wait", nil)
        let finished = TracedCondition("perform and wait", outcome)
        perform {
            let value = Swift.Result { try block() }
            outcome.withLock {
                $0 = value
                finished.broadcast()
            }
        }
        let loop = resource
        return try outcome.withLock(after: finished, for: loop, file, line, once: { $0 != nil }) { $0! }.get()
    }

    /// The run loop, as reports of waits name it.
    public var resource: TracedResource? { state.withLock { $0.handOff }?.resource }

    /// Ends the run loop after the blocks queued so far and waits for the thread. Once, and not on the thread itself.
    public func stop() {
        stopUnless(!isCurrent, "a run-loop thread cannot wait for its own end: call stop() from another thread")
        let end = state.withLock {
            $0.isStopped = true
            return $0.end
        }
        end?.signal()
        thread?.join()
        thread = nil
        // With them goes the run loop, and the kernel's three descriptors of one.
        let ended = state.withLock { state in
            defer { (state.handOff, state.end) = (nil, nil) }
            return (state.handOff, state.end)
        }
        withExtendedLifetime(ended) {}
    }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { thread?.isCurrent ?? false }
}
