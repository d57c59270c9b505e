// The part of a ranked tree that a live query shows. Several queries may share a tree and differ in their windows.

/// The rows whose sort key is at least `lower` and below `upper`. A nil bound is unlimited. Object ids do not count.
@usableFromInline
package struct TreeWindow: Sendable, Equatable {
    @usableFromInline package var lower: SortKeyBound?
    @usableFromInline package var upper: SortKeyBound?
    /// Number of rows shown, from the first one; nil for all.
    @usableFromInline package var limit: Int?
    /// Structure of the section key at the start of sort keys; nil without sections. A row whose section changes is
    /// reported as moved.
    package var sections: SortKeyPrefix?

    package static let all = TreeWindow()
}

/// The bounds of a window without ownership, so that testing a row counts no references. The holder must keep the
/// window alive.
package struct WindowEnds: Sendable {
    let lower: BareKey?
    let upper: BareKey?

    package init(_ window: TreeWindow) {
        lower = window.lower.map { BareKey($0) }
        upper = window.upper.map { BareKey($0) }
    }

    /// Returns whether a row with this key is within the bounds.
    @inline(__always)
    package func contains(_ key: RankedKey) -> Bool {
        let bare = BareKey(key)
        if let lower, bare < lower { return false }
        if let upper, !(bare < upper) { return false }
        return true
    }
}

extension RankedTree {
    /// Returns the ranks of the rows in `window`. Indices in the window count from their start. O(log n).
    package func ranks(in window: TreeWindow) -> Range<Int> {
        let lower = window.lower.map { lowerBound(of: $0) } ?? 0
        let upper = window.upper.map { lowerBound(of: $0) } ?? count
        return lower..<max(lower, min(upper, window.limit.map { lower + $0 } ?? upper))
    }

    /// Returns the rows that `window` shows. O(log n).
    package func slice(_ window: TreeWindow) -> TreeSlice { TreeSlice(self, ranks(in: window)) }
}

/// Consecutive rows of a tree.
@usableFromInline
package struct TreeSlice: Sendable {
    @usableFromInline package let tree: RankedTree
    @usableFromInline package let ranks: Range<Int>

    @inlinable
    package init(_ tree: RankedTree, _ ranks: Range<Int>) { (self.tree, self.ranks) = (tree, ranks) }

    @inlinable package var count: Int { ranks.count }

    /// Returns the id of the row at `index`, which is below `count`. O(log n).
    package func id(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "index \(index) is outside of \(count) rows")
        return tree.id(at: ranks.lowerBound + index)
    }

    /// Ids of all rows, in order. O(n).
    package var ids: [UInt64] { tree.ids(in: ranks) }
}

extension TreeWindow {
    /// Returns whether a row with this key is within the bounds.
    @inlinable
    package func contains(_ key: RankedKey) -> Bool {
        if let lower, key.isBelow(lower) { return false }
        if let upper, !key.isBelow(upper) { return false }
        return true
    }
}
