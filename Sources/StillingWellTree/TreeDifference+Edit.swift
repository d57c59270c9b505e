// What an edit has changed, found by the rows that it was given: a descent or two for each. For a few rows that is a tenth of a walk
// over both trees, which compares whole leaves.

extension TreeDifference {
    /// What `apply(removals:insertions:)` of these has made of `old`, which is `new`. A row that is inserted anew under another
    /// key is among the removals. O(k log n).
    package convenience init(
        from old: RankedTree, to new: RankedTree, removing removals: [RankedKey], inserting insertions: [RankedEntry]
    ) {
        var deleted: [Row] = []
        var inserted: [Row] = []
        var restamped: [Restamped] = []
        for key in removals {
            let place = withExtendedLifetime(key) { old.place(of: BareKey(key)) }
            // The key as the tree has it: what was given may go.
            if place.isPresent { deleted.add(Row(place)) }
        }
        for entry in insertions {
            let after = withExtendedLifetime(entry) { new.place(of: BareKey(entry.key)) }
            // A row stands in a tree once: one that was removed stood elsewhere.
            if removals.contains(where: { $0.id == entry.key.id }) {
                inserted.add(Row(after))
                continue
            }
            let before = withExtendedLifetime(entry) { old.place(of: BareKey(entry.key)) }
            if !before.isPresent {
                inserted.add(Row(after))
            } else if before.leaf.stamp(at: before.index) != entry.stamp {
                restamped.add(
                    Restamped(oldRank: before.rank, newRank: after.rank, key: after.leaf.key(at: after.index)))
            }
        }
        if deleted.count > 1 { deleted.sort { $0.rank < $1.rank } }
        if inserted.count > 1 { inserted.sort { $0.rank < $1.rank } }
        if restamped.count > 1 { restamped.sort { $0.newRank < $1.newRank } }
        self.init(from: old, to: new, deleted: deleted, inserted: inserted, restamped: restamped)
    }
}

extension Array {
    /// Appends; the first as the only one, for which a list that grows would ask for memory twice. Most of these have one element.
    @inline(__always)
    fileprivate mutating func add(_ element: Element) {
        if isEmpty { self = [element] } else { append(element) }
    }
}

extension TreeDifference.Row {
    fileprivate init(_ place: (leaf: RankedNode, index: Int, rank: Int, isPresent: Bool)) {
        self.init(rank: place.rank, key: place.leaf.key(at: place.index), stamp: place.leaf.stamp(at: place.index))
    }
}
