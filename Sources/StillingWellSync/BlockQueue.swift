// Blocks that wait for a run loop, first in, first out. Plain data; whoever shares it guards it.

struct BlockQueue {
    private var blocks: [(@Sendable () -> Void)?] = []
    private var head = 0
    /// How many have been added, ever.
    private(set) var addedCount = 0

    var isEmpty: Bool { head == blocks.count }

    /// O(1).
    mutating func append(_ block: @escaping @Sendable () -> Void) {
        blocks.append(block)
        addedCount += 1
    }

    /// Removes and returns the first of those that were added before `end`, counted from the first one ever. O(1).
    mutating func takeFirst(before end: Int) -> (@Sendable () -> Void)? {
        guard !isEmpty, addedCount - (blocks.count - head) < end else { return nil }
        let block = blocks[head].take()
        head += 1
        if head == blocks.count {
            blocks.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head * 2 > blocks.count {
            blocks.removeFirst(head)
            head = 0
        }
        return block
    }
}
