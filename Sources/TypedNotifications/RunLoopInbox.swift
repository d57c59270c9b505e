// What waits to be told on a run loop: blocks, in order, performed by a source of that loop.
//
// `inbox` (a leaf) guards `blocks`; they run, and are released, on the loop without it.
import TracedSync

/// The way to the run loop that it was made on.
final class RunLoopInbox: @unchecked Sendable {
    private let inbox = TracedMutex("notification inbox")
    private var blocks: [() -> Void] = []
    private var signal: RunLoopSignal?

    init() { signal = RunLoopSignal("notifications") { [weak self] in self?.drain() } }

    /// Any thread.
    func add(_ block: @escaping () -> Void) {
        let isFirst = inbox.withLock {
            blocks.append(block)
            return blocks.count == 1
        }
        if isFirst { signal?.signal() }
    }

    /// Nothing is performed any more. Any thread.
    func end() {
        signal?.invalidate()
        let dropped = inbox.withLock {
            defer { blocks = [] }
            return blocks
        }
        withExtendedLifetime(dropped) {}
    }

    private func drain() {
        let taken = inbox.withLock {
            defer { blocks = [] }
            return blocks
        }
        for block in taken { block() }
    }
}
