// A thread with its own run loop, which runs until `stop()`. For objects that need a run loop, such as live objects,
// off the main thread.
//
// Blocks run on the thread. They run, and are released, without the lock.
import CStillingWellPlatform
import CoreFoundation
import Foundation
import Glibc
import StillingWellBasis
import Synchronization

/// Runs blocks, in order, on its own run loop. A block that runs the loop itself runs the waiting blocks meanwhile.
public final class RunLoopThread: Sendable {
    private struct State {
        /// Hand-off to the loop. nil before the loop runs and after `stop()`.
        var handOff: RunLoopHandOff?
        var end: RunLoopSignal?
        var isStopped = false
    }

    private let state = Guarded("run-loop thread", State())
    private let changed: TracedCondition
    private let thread = SetOnce<TracedThread>()
    /// Number of the thread while it runs, otherwise 0.
    private let number = Atomic<UInt64>(0)

    /// Starts the thread and returns once its run loop accepts blocks. Ends the process if `init(starting:)` throws.
    public convenience init(_ name: String) {
        do { try self.init(starting: name) } catch { stopProgram("\(error)") }
    }

    /// Starts the thread and returns once its run loop accepts blocks.
    /// - Throws: `ThreadError` if the system cannot start it, or has no descriptors for its run loop.
    public init(starting name: String) throws(ThreadError) {
        if !RunLoopRoom.hasDescriptors { throw ThreadError(name: name, code: EMFILE) }
        changed = TracedCondition("run-loop thread start", state)
        thread.set(try TracedThread(starting: name) { [self] in run(name) })
        state.wait(for: changed) { $0.handOff != nil }
    }

    /// Numbers (`cp_thread_number`) of all running threads of this type.
    private static let running = PlainMutex<Set<UInt64>>([])

    /// Whether the calling thread is a `RunLoopThread`.
    public static var isAnyCurrent: Bool {
        let number = cp_thread_number()
        return running.with { $0.contains(number) }
    }

    private func run(_ name: String) {
        let here = cp_thread_number()
        number.store(here, ordering: .relaxed)
        Self.running.with { _ = $0.insert(here) }
        defer {
            Self.running.with { _ = $0.remove(here) }
            number.store(0, ordering: .relaxed)
        }
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
            // Runs until stopped. `RunLoop.run(mode:before:)` would leave and re-enter the loop for every source.
            while !state.withLock({ $0.isStopped }) { CFRunLoopRun() }
        }
        handOff.drain()
        handOff.invalidate()
        end.invalidate()
    }

    /// Ends the innermost run of the loop, then the runs around it.
    private func endLoop() {
        if let explored = Tracing.exploration?.loop { return explored.stop() }
        CFRunLoopStop(CFRunLoopGetCurrent())
        state.withLock { $0.end }?.signal()
    }

    /// Queues `block`. Any thread. Blocks queued after `stop()` has been called may never run.
    public func perform(_ block: @escaping @Sendable () -> Void) { state.withLock { $0.handOff }?.perform(block) }

    /// Runs `block` on the thread and returns its result. On the thread itself it runs at once. Elsewhere it must not
    /// be called after `stop()`: it may then wait forever.
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

    /// Run loop, as reports of waits name it. nil after `stop()`.
    public var resource: TracedResource? { state.withLock { $0.handOff }?.resource }

    /// Ends the run loop after the queued blocks and waits for the thread. A second call does nothing. Not on the
    /// thread itself.
    public func stop() {
        stopUnless(!isCurrent, "a run-loop thread cannot wait for its own end: call stop() from another thread")
        let (end, wasStopped) = state.withLock { state in
            defer { state.isStopped = true }
            return (state.end, state.isStopped)
        }
        if wasStopped { return }
        end?.signal()
        thread.value.join()
        let ended = state.withLock { state in
            defer { (state.handOff, state.end) = (nil, nil) }
            return (state.handOff, state.end)
        }
        withExtendedLifetime(ended) {}
    }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { number.load(ordering: .relaxed) == cp_thread_number() }
}
