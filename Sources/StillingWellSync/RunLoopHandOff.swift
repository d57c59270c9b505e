// Runs blocks on a run loop from any thread, with or without waiting for them.
//
// No other lock is taken while that of `inbox` is held. Blocks run on the loop. They run, and are released, without it.

/// Runs blocks in order on the run loop of the thread that made the hand-off. Calls from any thread.
///
/// A block may run the loop itself. That pass then runs the waiting blocks in order. Blocks added by blocks wait for
/// the next pass.
public final class RunLoopHandOff: Sendable {
    private struct Inbox {
        var blocks = BlockQueue()
        /// Whether the loop has been signalled and will call `drain`.
        var isSignalled = false

        /// Returns whether the loop must be signalled, and marks it as signalled.
        mutating func shouldSignal() -> Bool {
            if isSignalled || blocks.isEmpty { return false }
            isSignalled = true
            return true
        }
    }

    private let inbox = Guarded("run-loop hand-off", Inbox())
    private let signal = SetOnce<RunLoopSignal>()

    /// Makes a hand-off to the current thread's run loop.
    public init(_ name: String) { signal.set(RunLoopSignal(name) { [weak self] in self?.drain() }) }

    /// Run loop, as reports of waits name it.
    public var resource: TracedResource { signal.value.resource }

    /// Whether the caller is on the run loop's thread.
    public var isCurrent: Bool { signal.value.isCurrent }

    /// The context of state that only the run loop's thread uses.
    public var context: BoundContext {
        let signal = signal.value
        return BoundContext("the run loop of \(resource.name)") { signal.isCurrent }
    }

    /// Runs a block on the loop later.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        let mustSignal = inbox.withLock {
            $0.blocks.append(block)
            return $0.shouldSignal()
        }
        if mustSignal { signal.value.signal() }
    }

    /// Runs a block on the loop and waits for it. Deadlocks on the loop's own thread.
    public func performAndWait(
        _ block: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
    ) {
        let isDone = Guarded("hand-off", false)
        let finished = TracedCondition("hand-off", isDone)
        perform {
            block()
            isDone.withLock {
                $0 = true
                finished.broadcast()
            }
        }
        isDone.wait(for: finished, from: resource, file, line) { $0 }
    }

    /// Ends the hand-off and releases waiting blocks. Any thread.
    public func invalidate() {
        signal.value.invalidate()
        let dropped = inbox.withLock { inbox in
            defer { inbox.blocks = BlockQueue() }
            return inbox.blocks
        }
        withExtendedLifetime(dropped) {}
    }

    /// Runs the waiting blocks. On the run loop's thread.
    func drain() {
        let end = inbox.withLock {
            $0.isSignalled = false
            return $0.blocks.addedCount
        }
        // One at a time, with the loop signalled for the rest: a block may run the loop before it returns.
        while let block = takeFirst(before: end) { block() }
    }

    private func takeFirst(before end: Int) -> (() -> Void)? {
        let (block, mustSignal) = inbox.withLock { ($0.blocks.takeFirst(before: end), $0.shouldSignal()) }
        if mustSignal { signal.value.signal() }
        return block
    }
}
