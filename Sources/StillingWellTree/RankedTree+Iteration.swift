// Iteration over a range of entries in order. An iterator keeps its tree alive and finds each leaf by rank, so that it
// needs no stack.

extension RankedTree {
    /// The entries of a rank range, in order.
    package struct Entries: Sequence, Sendable {
        package let tree: RankedTree
        package let ranks: Range<Int>

        package var underestimatedCount: Int { ranks.count }
        package func makeIterator() -> Iterator { Iterator(tree: tree, next: ranks.lowerBound, end: ranks.upperBound) }
    }

    package struct Iterator: IteratorProtocol {
        private let tree: RankedTree
        private let end: Int
        private var rank: Int
        private var index = 0
        /// Number of entries in `leaf`. 0 before the first one.
        private var used = 0
        private var leaf: RankedNode

        init(tree: RankedTree, next: Int, end: Int) {
            self.tree = tree
            self.end = end
            rank = next
            leaf = tree.root.node
        }

        package mutating func next() -> RankedEntry? { step() ? leaf.entry(at: index - 1) : nil }

        /// Same as `next`, but returns only the entry's id.
        mutating func nextID() -> UInt64? { step() ? leaf.id(at: index - 1) : nil }

        @inline(__always)
        private mutating func step() -> Bool {
            guard rank < end else { return false }
            if index == used {
                (leaf, index) = tree.leaf(at: rank)
                used = leaf.used
            }
            index += 1
            rank += 1
            return true
        }
    }

    /// Returns the entries with `ranks`, which lie within 0 ..< `count`. O(log n) per leaf, O(1) per entry.
    package func entries(in ranks: Range<Int>) -> Entries {
        precondition(
            ranks.lowerBound >= 0 && ranks.upperBound <= count, "ranks \(ranks) are outside of a tree of \(count)")
        return Entries(tree: self, ranks: ranks)
    }

    package var entries: Entries { entries(in: 0..<count) }

    package func ids(in ranks: Range<Int>) -> [UInt64] {
        // The initializer below writes to storage shared by all empty arrays, which ThreadSanitizer reports.
        if ranks.isEmpty { return [] }
        var iterator = entries(in: ranks).makeIterator()
        return [UInt64](unsafeUninitializedCapacity: ranks.count) { buffer, count in
            while let id = iterator.nextID() {
                buffer[count] = id
                count += 1
            }
        }
    }
}
