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

// Inlined where they are called, once per row that is shown: a window that is passed on is copied part by part.
extension RankedTree {
    /// The ranks of the rows in `window`; an index within the window counts from their start. O(log n).
    @inlinable
    package func ranks(in window: TreeWindow) -> Range<Int> {
        let lower = window.lower.map { lowerBound(of: $0) } ?? 0
        let upper = window.upper.map { lowerBound(of: $0) } ?? count
        return lower..<max(lower, min(upper, window.limit.map { lower + $0 } ?? upper))
    }

    /// How many rows `window` shows. O(log n).
    @inlinable
    package func count(in window: TreeWindow) -> Int { ranks(in: window).count }

    /// The row at `index` of `window`. O(log n).
    @inlinable
    package func entry(at index: Int, in window: TreeWindow) -> RankedEntry {
        let ranks = ranks(in: window)
        precondition(index >= 0 && index < ranks.count, "index \(index) is outside of a window of \(ranks.count) rows")
        return entry(at: ranks.lowerBound + index)
    }
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
