// The way to a run loop for blocks, from any thread: to have one run there, and to wait until it has.
//
// The lock of `inbox` is a leaf; blocks run, and are released, on the loop without it.

/// Has blocks run on the run loop that it was made on, in order. Any thread.
///
/// A block may run the loop again: what waits goes on there, and its order is kept. What blocks add waits for the loop to
/// come round.
public final class RunLoopHandOff: Sendable {
    private struct Inbox {
        var blocks = BlockQueue()
        /// The loop will come here without being asked once more.
        var isSignalled = false

        /// Whether the loop has to be asked to come, which it then counts as asked.
        mutating func shouldSignal() -> Bool {
            if isSignalled || blocks.isEmpty { return false }
            isSignalled = true
            return true
        }
    }

    private let inbox = Guarded("run-loop hand-off", Inbox())
    /// Set by `init`, before anybody else has the object.
    nonisolated(unsafe) private var signal: RunLoopSignal?

    /// On the run loop's thread.
    public init(_ name: String) { signal = RunLoopSignal(name) { [weak self] in self?.drain() } }

    /// The run loop, as reports of waits name it.
    public var resource: TracedResource { signal!.resource }

    /// Whether the caller is on the run loop's thread.
    public var isCurrent: Bool { signal!.isCurrent }

    /// Has a block run there some time.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        let mustSignal = inbox.withLock {
            $0.blocks.append(block)
            return $0.shouldSignal()
        }
        if mustSignal { signal!.signal() }
    }

    /// Has a block run there and waits for it; on the very thread, for ever.
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

    /// Nothing runs any more, and what waits is let go of. Any thread.
    public func invalidate() {
        signal!.invalidate()
        let dropped = inbox.withLock { inbox in
            defer { inbox.blocks = BlockQueue() }
            return inbox.blocks
        }
        withExtendedLifetime(dropped) {}
    }

    /// Runs what waits. On the run loop's thread.
    func drain() {
        let end = inbox.withLock {
            $0.isSignalled = false
            return $0.blocks.addedCount
        }
        // One at a time, and the loop is asked to come here for the others: a block may run it before it returns.
        while let block = takeFirst(before: end) { block() }
    }

    private func takeFirst(before end: Int) -> (() -> Void)? {
        let (block, mustSignal) = inbox.withLock { ($0.blocks.takeFirst(before: end), $0.shouldSignal()) }
        if mustSignal { signal!.signal() }
        return block
    }
}
