// The way to a run loop for blocks, from any thread: to have one run there, and to wait until it has.
//
// `inbox` (a leaf) guards `blocks` and `isSignalled`; blocks run, and are released, on the loop without it.

/// Has blocks run on the run loop that it was made on, in order. Any thread.
///
/// A block may run the loop again: what waits goes on there, and its order is kept. What blocks add waits for the loop to
/// come round.
public final class RunLoopHandOff: @unchecked Sendable {
    private let inbox = TracedMutex("run-loop hand-off")
    private var blocks = BlockQueue()
    /// The loop will come here without being asked once more.
    private var isSignalled = false
    private var signal: RunLoopSignal?

    /// On the run loop's thread.
    public init(_ name: String) { signal = RunLoopSignal(name) { [weak self] in self?.drain() } }

    /// The run loop, as reports of waits name it.
    public var resource: TracedResource { signal!.resource }

    /// Whether the caller is on the run loop's thread.
    public var isCurrent: Bool { signal!.isCurrent }

    /// Has a block run there some time.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        let mustSignal = inbox.withLock {
            blocks.append(block)
            return shouldSignal()
        }
        if mustSignal { signal!.signal() }
    }

    /// Has a block run there and waits for it; on the very thread, for ever.
    public func performAndWait(
        _ block: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
    ) {
        let done = TracedMutex("hand-off")
        let finished = TracedCondition("hand-off", done)
        nonisolated(unsafe) var isDone = false
        perform {
            block()
            done.withLock {
                isDone = true
                finished.broadcast()
            }
        }
        done.withLock { while !isDone { finished.wait(for: resource, file, line) } }
    }

    /// Nothing runs any more, and what waits is let go of. Any thread.
    public func invalidate() {
        signal!.invalidate()
        let dropped = inbox.withLock {
            defer { blocks = BlockQueue() }
            return blocks
        }
        withExtendedLifetime(dropped) {}
    }

    /// Runs what waits. On the run loop's thread.
    func drain() {
        let end = inbox.withLock {
            isSignalled = false
            return blocks.addedCount
        }
        // One at a time, and the loop is asked to come here for the others: a block may run it before it returns.
        while let block = takeFirst(before: end) { block() }
    }

    private func takeFirst(before end: Int) -> (() -> Void)? {
        let (block, mustSignal) = inbox.withLock { (blocks.takeFirst(before: end), shouldSignal()) }
        if mustSignal { signal!.signal() }
        return block
    }

    /// Holding the lock: whether the loop has to be asked to come, which it then counts as asked.
    private func shouldSignal() -> Bool {
        if isSignalled || blocks.isEmpty { return false }
        isSignalled = true
        return true
    }
}
