// Change sets by example: which rows are reported, in which index space.
import Testing

@testable import StillingWell
@testable import StillingWellEngine
@testable import StillingWellTree

/// Rows by name; the sort key is the number, the id the letter.
private func tree(_ rows: [(Character, UInt64)], stamps: [Character: UInt64] = [:]) -> RankedTree {
    let entries = rows.map { name, key in
        RankedEntry(key: RankedKey(prefix: key, id: UInt64(name.asciiValue!)), stamp: stamps[name] ?? 1)
    }
    return RankedTree(sorted: entries.sorted { $0.key < $1.key })
}

private func window(_ range: Range<UInt64>) -> TreeWindow {
    TreeWindow(lower: SortKeyBound(prefix: range.lowerBound), upper: SortKeyBound(prefix: range.upperBound))
}

private func id(_ name: Character) -> ObjectID {
    ObjectID(rawValue: UInt64(name.asciiValue!))
}

@Suite struct ChangeSetTests {
    private let before = tree([("a", 10), ("b", 20), ("c", 30), ("d", 40)])

    @Test func nothingChanged() {
        let same = tree([("a", 10), ("b", 20), ("c", 30), ("d", 40)])
        #expect(ChangeSet.between(before, before).isEmpty)
        #expect(ChangeSet.between(before, same).isEmpty)
    }

    @Test func deletionsAreOldIndicesAndInsertionsNewOnes() {
        let after = tree([("a", 10), ("c", 30), ("d", 40), ("e", 50)])
        #expect(
            ChangeSet.between(before, after)
                == ChangeSet(deletions: [1], insertions: [3], deletedIDs: [id("b")]))
    }

    @Test func aModificationHasBothIndices() {
        let after = tree([("b", 20), ("c", 30), ("d", 40)], stamps: ["c": 2])
        #expect(
            ChangeSet.between(before, after)
                == ChangeSet(deletions: [0], modifications: [2], modificationsNew: [1], deletedIDs: [id("a")]))
    }

    @Test func aMovedRowIsAlsoDeletedAndInsertedButNotModified() {
        let after = tree([("b", 20), ("c", 30), ("a", 35), ("d", 40)], stamps: ["a": 2])
        #expect(
            ChangeSet.between(before, after)
                == ChangeSet(deletions: [0], insertions: [2], moves: [Move(from: 0, to: 2)]))
    }

    @Test func aRowWhoseKeyChangedWithoutPassingAnotherIsModified() {
        let after = tree([("a", 10), ("b", 25), ("c", 30), ("d", 40)], stamps: ["b": 2])
        #expect(ChangeSet.between(before, after) == ChangeSet(modifications: [1], modificationsNew: [1]))
    }

    @Test func ofTwoWrittenRowsThatSwapOneMoves() {
        let after = tree([("a", 10), ("c", 22), ("b", 28), ("d", 40)], stamps: ["b": 2, "c": 2])
        let changes = ChangeSet.between(before, after)
        #expect(changes.moves.count == 1)
        #expect(changes.modifications.count == 1)
    }

    /// Moving the one unwritten row would be shorter, but nobody wrote it.
    @Test func writtenRowsMoveOverAnUnwrittenOne() {
        let after = tree([("d", 40), ("a", 50), ("b", 60), ("c", 70)], stamps: ["a": 2, "b": 2, "c": 2])
        #expect(
            ChangeSet.between(before, after).moves == [
                Move(from: 0, to: 1), Move(from: 1, to: 2), Move(from: 2, to: 3),
            ])
    }

    @Test func aRowThatCrossesTheBoundOfAWindowIsDeletedOrInserted() {
        let after = tree([("a", 10), ("b", 45), ("c", 30), ("d", 40)], stamps: ["b": 2])
        let difference = TreeDifference(from: before, to: after)
        #expect(difference.changeSet(in: window(15..<35)) == ChangeSet(deletions: [0], deletedIDs: [id("b")]))
        #expect(difference.changeSet(in: window(35..<50)) == ChangeSet(insertions: [1]))
        #expect(difference.changeSet(in: window(5..<15)).isEmpty)
        #expect(difference.changeSet().moves == [Move(from: 1, to: 3)])
    }

    @Test func aWindowThatMovesGainsAndLosesUntouchedRows() {
        #expect(
            ChangeSet.between(before, window(10..<30), before, window(20..<50))
                == ChangeSet(deletions: [0], insertions: [1, 2], deletedIDs: [id("a")]))
    }

    @Test func insertionAndDeletionBetweenTwoReportsCancel() {
        var after = before
        let key = RankedKey(prefix: 25, id: 99)
        after.edit { $0.insert(RankedEntry(key: key, stamp: 2)) }
        after.edit { $0.remove(key) }
        #expect(ChangeSet.between(before, after).isEmpty)
    }

    @Test func aValueSetAndSetBackStaysAModification() {
        var after = before
        let old = RankedKey(prefix: 20, id: id("b").rawValue)
        let aside = RankedKey(prefix: 90, id: id("b").rawValue)
        after.apply(removals: [old], insertions: [RankedEntry(key: aside, stamp: 2)])
        after.apply(removals: [aside], insertions: [RankedEntry(key: old, stamp: 3)])
        #expect(ChangeSet.between(before, after) == ChangeSet(modifications: [1], modificationsNew: [1]))
    }
}

@Suite struct LongestIncreasingTests {
    /// Every sequence of up to five numbers below five, against every subset.
    @Test func noSubsetIsLonger() {
        for length in 0...5 {
            var values = [Int](repeating: 0, count: length)
            repeat {
                let positions = LongestIncreasing.positions(in: values)
                let chosen = positions.map { values[$0] }
                let isValid = isAscending(positions) && isAscending(chosen)
                if !isValid || chosen.count != Self.longest(values) {
                    Issue.record("positions \(positions) of \(values)")
                    return
                }
            } while Self.increment(&values)
        }
    }

    private func isAscending(_ values: [Int]) -> Bool {
        zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
    }

    private static func longest(_ values: [Int]) -> Int {
        (0..<1 << values.count).map { subset in
            let chosen = values.indices.filter { subset >> $0 & 1 == 1 }.map { values[$0] }
            return zip(chosen, chosen.dropFirst()).allSatisfy { $0 < $1 } ? chosen.count : 0
        }.max()!
    }

    /// The next sequence of digits below five; false after the last one.
    private static func increment(_ values: inout [Int]) -> Bool {
        for index in values.indices {
            values[index] += 1
            if values[index] < 5 { return true }
            values[index] = 0
        }
        return false
    }
}
