// The way to a run loop for blocks, from any thread: to have one run there, and to wait until it has.
//
// `inbox` (a leaf) guards `blocks`; they run, and are released, on the loop without it.

/// Has blocks run on the run loop that it was made on, in order. Any thread.
public final class RunLoopHandOff: @unchecked Sendable {
    private let inbox = TracedMutex("run-loop hand-off")
    private var blocks: [() -> Void] = []
    private var signal: RunLoopSignal?

    /// On the run loop's thread.
    public init(_ name: String) { signal = RunLoopSignal(name) { [weak self] in self?.drain() } }

    /// The run loop, as reports of waits name it.
    public var resource: TracedResource { signal!.resource }

    /// Whether the caller is on the run loop's thread.
    public var isCurrent: Bool { signal!.isCurrent }

    /// Has a block run there some time.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        inbox.withLock { blocks.append(block) }
        signal!.signal()
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

    /// Nothing runs any more. Any thread.
    public func invalidate() { signal!.invalidate() }

    private func drain() {
        let taken = inbox.withLock {
            defer { blocks = [] }
            return blocks
        }
        for block in taken { block() }
    }
}
