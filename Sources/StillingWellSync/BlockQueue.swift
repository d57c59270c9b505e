// A first-in, first-out queue of blocks for a run loop. Plain data; its owner guards it.

struct BlockQueue {
    private var blocks: [(@Sendable () -> Void)?] = []
    private var head = 0
    /// Number of blocks ever added.
    private(set) var addedCount = 0

    var isEmpty: Bool { head == blocks.count }

    /// Amortised O(1).
    mutating func append(_ block: @escaping @Sendable () -> Void) {
        blocks.append(block)
        addedCount += 1
    }

    /// Removes and returns the first block if its number is below `end`. Blocks are numbered from 0 in the order in
    /// which they were added. Amortised O(1).
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
