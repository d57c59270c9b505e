// Converts the difference of two trees to the change set of a window, the part of a tree that a query shows. The
// difference is computed once and clipped for each window.

extension TreeDifference {
    /// Returns the changes in `window`, which lies within the difference's limits. Rows that cross its bounds are
    /// insertions or deletions.
    ///
    /// O(log n + k log k) for k changed rows in the window. O(log K) if there are none, with K changed rows in all.
    /// With a row limit: as `changeSet(from:to:)`.
    package func changeSet(in window: TreeWindow = .all) -> ChangeSet {
        if window.limit != nil { return changeSet(from: old.ranks(in: window), to: new.ranks(in: window)) }
        let parts = parts(between: WindowEnds(window))
        if parts.isEmpty { return ChangeSet() }
        let oldStart = window.lower.map { old.lowerBound(of: $0) } ?? 0
        // Without a lower limit, the new start follows from the lists. Otherwise it is looked up.
        let newStart =
            limits.lower == nil
            ? oldStart - parts.gone.lowerBound + parts.added.lowerBound
            : window.lower.map { new.lowerBound(of: $0) } ?? 0
        return clip(parts, oldStart, newStart, window.sections)
    }

    /// Same as `changeSet(in:)`, for a difference without limits and a window without a row limit. Given the ranks that
    /// the window shows of the old tree, it computes those of the new one without reading either tree. O(log K + k log
    /// k).
    package func changeSet(
        in window: TreeWindow, _ ends: WindowEnds, showing oldRanks: Range<Int>
    ) -> (changes: ChangeSet, newRanks: Range<Int>) {
        assert(window.limit == nil && limits.lower == nil && limits.upper == nil)
        let parts = parts(between: ends)
        let newStart = oldRanks.lowerBound - parts.gone.lowerBound + parts.added.lowerBound
        let newRanks = newStart..<oldRanks.upperBound - parts.gone.upperBound + parts.added.upperBound
        if parts.isEmpty { return (ChangeSet(), newRanks) }
        return (clip(parts, oldRanks.lowerBound, newStart, window.sections), newRanks)
    }

    /// Index ranges of the listed rows that are in a window.
    private struct Parts {
        let gone: Range<Int>
        let added: Range<Int>
        let written: Range<Int>

        var isEmpty: Bool { gone.isEmpty && added.isEmpty && written.isEmpty }
    }

    @inline(__always)
    private func parts(between ends: WindowEnds) -> Parts {
        Parts(
            gone: Self.indices(of: deleted, between: ends) { $0.key },
            added: Self.indices(of: inserted, between: ends) { $0.key },
            written: Self.indices(of: restamped, between: ends) { $0.key })
    }

    private func clip(_ parts: Parts, _ oldStart: Int, _ newStart: Int, _ sections: SortKeyPrefix?) -> ChangeSet {
        Clip.changeSet(
            deleted, parts.gone, inserted, parts.added, partners, restamped, parts.written, oldStart: oldStart,
            newStart: newStart, sections: sections)
    }

    /// Returns the changes from `oldRanks` of the old tree to `newRanks` of the new one, for windows whose bounds have
    /// moved too. If the same untouched rows are in both it costs as much as `changeSet(in:)`, otherwise also O(rows in
    /// both ranges). With a lower limit, both ranges begin there.
    func changeSet(from oldRanks: Range<Int>, to newRanks: Range<Int>) -> ChangeSet {
        let gone = Self.indices(of: deleted, in: oldRanks) { $0.rank }
        let added = Self.indices(of: inserted, in: newRanks) { $0.rank }
        // Positions among the rows that are in both trees under the same key, counted from the lower limit if there is
        // one.
        let oldFirst = limits.lower == nil ? 0 : oldRanks.lowerBound
        let newFirst = limits.lower == nil ? 0 : newRanks.lowerBound
        let oldKept =
            oldRanks.lowerBound - oldFirst - gone.lowerBound..<oldRanks.upperBound - oldFirst - gone.upperBound
        let newKept =
            newRanks.lowerBound - newFirst - added.lowerBound..<newRanks.upperBound - newFirst - added.upperBound
        let fromOld = Self.indices(of: restamped, in: oldRanks) { $0.oldRank }
        if oldKept == newKept {
            return Clip.changeSet(
                deleted, gone, inserted, added, partners, restamped, fromOld, oldStart: oldRanks.lowerBound,
                newStart: newRanks.lowerBound)
        }
        let leaving = Self.adding(to: deleted[gone], from: old, oldRanks, oldKept, keptOutside: newKept)
        let entering = Self.adding(to: inserted[added], from: new, newRanks, newKept, keptOutside: oldKept)
        let written = fromOld.clamped(to: Self.indices(of: restamped, in: newRanks) { $0.newRank })
        return Clip.changeSet(
            leaving, leaving.indices, entering, entering.indices, ObjectPairing.partners(of: leaving, in: entering),
            restamped, written, oldStart: oldRanks.lowerBound, newStart: newRanks.lowerBound)
    }

    /// Returns `rows` merged with those rows of `ranks` that are in both trees but not in the other window. `places`
    /// are positions among the rows in both trees.
    private static func adding(
        to rows: ArraySlice<Row>, from tree: RankedTree, _ ranks: Range<Int>, _ places: Range<Int>,
        keptOutside shown: Range<Int>
    ) -> [Row] {
        var result: [Row] = []
        var kept = places.lowerBound
        var next = rows.startIndex
        for (rank, entry) in zip(ranks, tree.entries(in: ranks)) {
            if next < rows.endIndex && rows[next].rank == rank {
                result.append(rows[next])
                next += 1
            } else {
                if !shown.contains(kept) { result.append(Row(rank: rank, key: BareKey(entry.key), stamp: entry.stamp)) }
                kept += 1
            }
        }
        return result
    }

    @inline(__always)
    private static func indices<Element>(
        of list: [Element], between ends: WindowEnds, key: (Element) -> BareKey
    ) -> Range<Int> {
        if list.isEmpty { return 0..<0 }
        let first = ends.lower.map { bound in list.prefixCount { key($0) < bound } } ?? 0
        let end = ends.upper.map { bound in list.prefixCount { key($0) < bound } } ?? list.count
        return first..<max(first, end)
    }

    private static func indices<Element>(
        of list: [Element], in ranks: Range<Int>, rank: (Element) -> Int
    ) -> Range<Int> {
        list.prefixCount { rank($0) < ranks.lowerBound }..<list.prefixCount { rank($0) < ranks.upperBound }
    }
}

/// The part of a difference in one window. Borrows its rows: slices of arrays would count references, half the cost of
/// a window.
private struct Clip {
    private let deleted: UnsafeBufferPointer<TreeDifference.Row>
    private let inserted: UnsafeBufferPointer<TreeDifference.Row>
    /// For each of `deleted` the index of the same object in the list that `inserted` is a part of, or nil. The index
    /// lies outside of `inserted` if the row left the window.
    private let partners: UnsafeBufferPointer<Int?>
    /// Number of rows before `inserted` in that list.
    private let partnersFrom: Int
    private let restamped: UnsafeBufferPointer<TreeDifference.Restamped>
    private let oldStart: Int
    private let newStart: Int

    private struct Pair {
        let deleted: Int
        let inserted: Int
    }

    /// Returns the change set of some of the listed rows.
    /// - Parameter partners: partners of all of `deleted`.
    static func changeSet(
        _ deleted: [TreeDifference.Row], _ gone: Range<Int>, _ inserted: [TreeDifference.Row], _ added: Range<Int>,
        _ partners: [Int?], _ restamped: [TreeDifference.Restamped], _ written: Range<Int>, oldStart: Int,
        newStart: Int,
        sections: SortKeyPrefix? = nil
    ) -> ChangeSet {
        deleted.withUnsafeBufferPointer { deleted in
            inserted.withUnsafeBufferPointer { inserted in
                partners.withUnsafeBufferPointer { partners in
                    restamped.withUnsafeBufferPointer { restamped in
                        Clip(
                            deleted: UnsafeBufferPointer(rebasing: deleted[gone]),
                            inserted: UnsafeBufferPointer(rebasing: inserted[added]),
                            partners: UnsafeBufferPointer(rebasing: partners[gone]), partnersFrom: added.lowerBound,
                            restamped: UnsafeBufferPointer(rebasing: restamped[written]), oldStart: oldStart,
                            newStart: newStart
                        ).changeSet(sections)
                    }
                }
            }
        }
    }

    /// Returns the change set. A row whose key changed is reported as moved only if necessary.
    ///
    /// Without the deleted and the inserted rows both sides are the same sequence. A row may keep its place if it is in
    /// the same section and the same gap of that sequence on both sides, and if the rows that keep their place in one
    /// gap have the same order on both sides; across gaps the order follows. So the largest set that may stay is a
    /// longest increasing subsequence of the new places, over the rows whose gap and section are the same, in old
    /// order.
    private func changeSet(_ sections: SortKeyPrefix?) -> ChangeSet {
        let staying = stayingPairs(sections)
        if deleted.count <= 1, inserted.count <= 1 { return changeSetOfOne(staying) }
        var result = ChangeSet()
        result.deletions.reserveCapacity(deleted.count - staying.count)
        result.insertions.reserveCapacity(inserted.count - staying.count)
        var next = 0
        for index in deleted.indices {
            if next < staying.count && staying[next].deleted == index {
                next += 1
                continue
            }
            let from = deleted[index].rank - oldStart
            result.deletions.append(from)
            if let partner = partner(of: index) {
                result.moves.append(Move(from: from, to: inserted[partner].rank - newStart))
            } else {
                result.deletedIDs.append(ObjectID(rawValue: deleted[index].key.id))
            }
        }
        next = 0
        for index in inserted.indices {
            if next < staying.count && staying[next].inserted == index {
                next += 1
            } else {
                result.insertions.append(inserted[index].rank - newStart)
            }
        }
        addModifications(staying, to: &result)
        return result
    }

    /// Same result for at most one deleted and one inserted row, the usual case. Growing and reserving arrays, here and
    /// where the rows are listed, took 6 % of the upkeep of a hundred filters.
    private func changeSetOfOne(_ staying: [Pair]) -> ChangeSet {
        var result = ChangeSet()
        if staying.isEmpty, let gone = deleted.first {
            let from = gone.rank - oldStart
            result.deletions = [from]
            if let partner = partner(of: 0) {
                result.moves = [Move(from: from, to: inserted[partner].rank - newStart)]
            } else {
                result.deletedIDs = [ObjectID(rawValue: gone.key.id)]
            }
        }
        if staying.isEmpty, let new = inserted.first { result.insertions = [new.rank - newStart] }
        addModifications(staying, to: &result)
        return result
    }

    private func partner(of index: Int) -> Int? {
        guard let partner = partners[index], inserted.indices.contains(partner - partnersFrom) else { return nil }
        return partner - partnersFrom
    }

    private func stayingPairs(_ sections: SortKeyPrefix?) -> [Pair] {
        var candidates: [Pair] = []
        for index in deleted.indices {
            guard let partner = partner(of: index) else { continue }
            // Number of untouched rows before it on either side: the number of its gap.
            let oldGap = deleted[index].rank - oldStart - index
            let newGap = inserted[partner].rank - newStart - partner
            if oldGap == newGap, isInOneSection(deleted[index].key, inserted[partner].key, sections) {
                candidates.append(Pair(deleted: index, inserted: partner))
            }
        }
        if candidates.count < 2 { return candidates }
        return LongestIncreasing.positions(in: candidates.map(\.inserted)).map { candidates[$0] }
    }

    private func isInOneSection(_ old: BareKey, _ new: BareKey, _ sections: SortKeyPrefix?) -> Bool {
        guard let sections else { return true }
        let oldBytes = old.bytes
        let newBytes = new.bytes
        return oldBytes.prefix(sections.length(in: oldBytes[...]))
            == newBytes.prefix(sections.length(in: newBytes[...]))
    }

    /// Adds rows written in place, and rows with a new stamp (`RankedEntry.stamp`) that keep their place although their
    /// key changed. Both ascend on both sides. A key can change without a new stamp if its column is not observed.
    private func addModifications(_ staying: [Pair], to result: inout ChangeSet) {
        let most = restamped.count + staying.count
        if most == 0 { return }
        if most == 1, let row = restamped.first {
            (result.modifications, result.modificationsNew) = ([row.oldRank - oldStart], [row.newRank - newStart])
            return
        }
        result.modifications.reserveCapacity(most)
        result.modificationsNew.reserveCapacity(most)
        var next = 0
        func addStaying(before oldRank: Int) {
            while next < staying.count && deleted[staying[next].deleted].rank < oldRank {
                let (from, to) = (deleted[staying[next].deleted], inserted[staying[next].inserted])
                if from.stamp != to.stamp {
                    result.modifications.append(from.rank - oldStart)
                    result.modificationsNew.append(to.rank - newStart)
                }
                next += 1
            }
        }
        for row in restamped {
            addStaying(before: row.oldRank)
            result.modifications.append(row.oldRank - oldStart)
            result.modificationsNew.append(row.newRank - newStart)
        }
        addStaying(before: .max)
    }
}

extension ChangeSet {
    /// Returns the changes in `window` from `old` to `new`. For several windows, use one `TreeDifference`.
    package static func between(_ old: RankedTree, _ new: RankedTree, in window: TreeWindow = .all) -> ChangeSet {
        old.isIdentical(to: new) ? ChangeSet() : TreeDifference(from: old, to: new, in: window).changeSet(in: window)
    }

    /// Returns the changes from the rows of `oldWindow` in `old` to those of `newWindow` in `new`.
    package static func between(
        _ old: RankedTree, _ oldWindow: TreeWindow, _ new: RankedTree, _ newWindow: TreeWindow
    ) -> ChangeSet {
        TreeDifference(from: old, to: new).changeSet(from: old.ranks(in: oldWindow), to: new.ranks(in: newWindow))
    }
}
