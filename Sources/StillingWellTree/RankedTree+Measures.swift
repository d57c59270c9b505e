// The measures of a tree: aggregates over ranges of rows, and adding measures to a tree.

extension RankedTree {
    /// Columns whose values the tree stores.
    package var measures: Measures { root.shape.measures }

    /// Returns the aggregates of a column over the rows with `ranks`, or nil if the tree does not store the column.
    /// O(log n).
    package func summary(of column: Int, in ranks: Range<Int>) -> MeasureSummary? {
        guard let place = measures.place(of: column) else { return nil }
        precondition(
            ranks.lowerBound >= 0 && ranks.upperBound <= count, "ranks \(ranks) are outside of a tree of \(count)")
        return withExtendedLifetime(root) {
            if measures.kinds.isDouble(place) {
                var summary = DoubleSummary()
                Self.forEachRun(of: ranks, below: root.node) { summary.add($0.doubles(place, $1)) }
                return .doubles(summary)
            }
            var summary = IntegerSummary()
            Self.forEachRun(of: ranks, below: root.node) { summary.add($0.integers(place, $1)) }
            return .integers(summary)
        }
    }

    /// Calls `body` with ranges of slots that together cover exactly the rows with `ranks`.
    private static func forEachRun(
        of ranks: Range<Int>, below node: RankedNode, _ body: (RankedNode, Range<Int>) -> Void
    ) {
        if ranks.isEmpty { return }
        if node.isLeaf { return body(node, ranks) }
        var first = 0
        var whole = 0..<0
        for index in 0..<node.used {
            let below = first..<first + node.counts[index]
            first = below.upperBound
            if below.upperBound <= ranks.lowerBound { continue }
            if below.lowerBound >= ranks.upperBound { break }
            if ranks.lowerBound <= below.lowerBound, below.upperBound <= ranks.upperBound {
                whole = (whole.isEmpty ? index : whole.lowerBound)..<index + 1
            } else {
                let part = below.clamped(to: ranks)
                forEachRun(
                    of: part.lowerBound - below.lowerBound..<part.upperBound - below.lowerBound,
                    below: node.children[index], body)
            }
        }
        if !whole.isEmpty { body(node, whole) }
    }

    /// Returns the words of the entry at `rank`, which is below `count`. O(log n).
    package func words(at rank: Int) -> [UInt64] {
        withExtendedLifetime(root) {
            let (leaf, index) = leaf(at: rank)
            return (0..<measures.wordsPerEntry).map { leaf.words(at: index)[$0] }
        }
    }

    /// Returns the same rows with other measures, or none. Accompanying trees are dropped. O(n).
    /// - Parameter fill: writes the words of the entry with the given id.
    package func measured(_ measures: Measures, _ fill: (UInt64, UnsafeMutablePointer<UInt64>) -> Void) -> RankedTree {
        withExtendedLifetime(root) {
            var shape = root.shape
            shape.measures = measures
            return RankedTree(Root(Self.measured(root.node, RankedEdit.nextID(), shape, fill), shape: shape))
        }
    }

    private static func measured(
        _ node: RankedNode, _ edit: UInt64, _ shape: Shape, _ fill: (UInt64, UnsafeMutablePointer<UInt64>) -> Void
    ) -> RankedNode {
        let copy = shape.node(edit: edit, height: node.height, format: node.format)
        if node.isLeaf {
            copy.appendUnmeasured(from: node, 0..<node.used)
            if !shape.measures.isEmpty {
                for index in 0..<node.used {
                    copy.setMeasures(nil, at: index)
                    fill(node.id(at: index), copy.words(at: index))
                }
            }
        } else {
            for index in 0..<node.used {
                copy.insert(child: measured(node.children[index], edit, shape, fill), at: index)
            }
        }
        return copy
    }

    /// Marks the measures as no longer maintained. Their memory stays.
    mutating func forgetMeasures() {
        var shape = root.shape
        shape.measures = shape.measures.forgotten
        root.node.retain()
        self = RankedTree(Root(root.node, shape: shape, groups: groups, sections: sections))
    }

    /// Returns the changes from these rows to another tree's: keys to remove, and entries to insert.
    package func changes(to other: RankedTree) -> (removals: [RankedKey], insertions: [RankedEntry]) {
        let difference = TreeDifference(from: self, to: other)
        return withExtendedLifetime(difference) {
            let inserted = difference.inserted.map { RankedEntry(key: $0.key.owned, stamp: $0.stamp) }
            let restamped = difference.restamped.map { other.entry(at: $0.newRank) }
            return (difference.deleted.map(\.key.owned), inserted + restamped)
        }
    }
}
