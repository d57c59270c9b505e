// The part of a ranked tree a live query shows. Many queries with the same filter and sort share one tree and differ in
// their windows only.

/// The rows whose sort key is at least `lower` and below `upper`; nil means no bound. Object ids play no part.
@usableFromInline
package struct TreeWindow: Sendable, Equatable {
    @usableFromInline package var lower: SortKeyBound?
    @usableFromInline package var upper: SortKeyBound?
    /// How many of these rows are shown, the first ones; nil means all.
    @usableFromInline package var limit: Int?
    /// What keys begin with that no row may change and keep its place: it is in another section then.
    package var sections: SortKeyPrefix?

    /// Every row.
    package static let all = TreeWindow()
}

/// The ends of a window, without ownership, so that asking whether a row is between them counts no references. Whoever holds
/// one keeps the window alive that it was taken from.
package struct WindowEnds: Sendable {
    let lower: BareKey?
    let upper: BareKey?

    package init(_ window: TreeWindow) {
        lower = window.lower.map { BareKey($0) }
        upper = window.upper.map { BareKey($0) }
    }

    /// Whether a row of this key is between them.
    @inline(__always)
    package func contains(_ key: RankedKey) -> Bool {
        let bare = BareKey(key)
        if let lower, bare < lower { return false }
        if let upper, !(bare < upper) { return false }
        return true
    }
}

extension RankedTree {
    /// The ranks of the rows in `window`; an index within the window counts from their start. O(log n).
    package func ranks(in window: TreeWindow) -> Range<Int> {
        let lower = window.lower.map { lowerBound(of: $0) } ?? 0
        let upper = window.upper.map { lowerBound(of: $0) } ?? count
        return lower..<max(lower, min(upper, window.limit.map { lower + $0 } ?? upper))
    }

    /// The rows that `window` shows. O(log n).
    package func slice(_ window: TreeWindow) -> TreeSlice { TreeSlice(self, ranks(in: window)) }
}

/// Some successive rows of a tree: what a window shows, or a section.
@usableFromInline
package struct TreeSlice: Sendable {
    @usableFromInline package let tree: RankedTree
    @usableFromInline package let ranks: Range<Int>

    @inlinable
    package init(_ tree: RankedTree, _ ranks: Range<Int>) { (self.tree, self.ranks) = (tree, ranks) }

    @inlinable package var count: Int { ranks.count }

    /// The id of the row at an index, which is below `count`. O(log n).
    package func id(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "index \(index) is outside of \(count) rows")
        return tree.id(at: ranks.lowerBound + index)
    }

    /// Of all rows, in order. O(n).
    package var ids: [UInt64] { tree.ids(in: ranks) }
}

extension TreeWindow {
    /// Whether a row of this key is shown.
    @inlinable
    package func contains(_ key: RankedKey) -> Bool {
        if let lower, key.isBelow(lower) { return false }
        if let upper, !key.isBelow(upper) { return false }
        return true
    }
}
