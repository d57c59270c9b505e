// What a ranked tree does, by example.
import Testing

@testable import StillingWell
@testable import StillingWellEngine
@testable import StillingWellTree

private let smallNodes = RankedTree.Shape(leafCapacity: 4, innerCapacity: 4)

private func entry(_ key: UInt64, id: UInt64, stamp: UInt64 = 1) -> RankedEntry {
    RankedEntry(key: RankedKey(prefix: key, id: id), stamp: stamp)
}

private func bound(_ text: String) -> SortKeyBound {
    Array(text.utf8).withUnsafeBytes { SortKeyBound(bytes: $0) }
}

private func key(_ text: String, id: UInt64) -> RankedKey {
    Array(text.utf8).withUnsafeBytes { RankedKey(bytes: $0, id: id) }
}

@Suite struct RankedTreeTests {
    @Test func rowsStandInKeyOrderAndTiesInIDOrder() {
        var tree = RankedTree()
        tree.edit { edit in
            edit.insert(entry(20, id: 1))
            edit.insert(entry(10, id: 3))
            edit.insert(entry(10, id: 2))
        }
        #expect(tree.ids(in: 0..<3) == [2, 3, 1])
        #expect(tree.rank(of: RankedKey(prefix: 10, id: 3)) == 1)
        #expect(tree.rank(of: RankedKey(prefix: 10, id: 4)) == nil)
        #expect(tree.lowerBound(of: RankedKey(prefix: 10, id: 4)) == 2)
        #expect(tree.lowerBound(of: SortKeyBound(prefix: 20)) == 2)
        #expect(tree.entry(at: 2) == entry(20, id: 1))
    }

    @Test func anEmptyTreeHasNothing() {
        let tree = RankedTree()
        #expect(tree.isEmpty)
        #expect(Array(tree.entries).isEmpty)
        #expect(tree.rank(of: RankedKey(prefix: 0, id: 0)) == nil)
        #expect(tree.slice(TreeWindow(lower: SortKeyBound(prefix: 0), upper: SortKeyBound(prefix: .max))).count == 0)
        #expect(RankedTree(sorted: []).checkInvariants() == nil)
    }

    @Test func insertingAPresentKeySetsItsStamp() {
        var tree = RankedTree(sorted: [entry(1, id: 1), entry(2, id: 2)])
        let isNew = tree.edit { $0.insert(entry(2, id: 2, stamp: 9)) }
        #expect(!isNew)
        #expect(tree.count == 2)
        #expect(tree.stamp(of: RankedKey(prefix: 2, id: 2)) == 9)
    }

    @Test func whatIsNotThereIsNotRemoved() {
        let before = RankedTree(sorted: (0..<100).map { entry($0, id: $0) }, shape: smallNodes)
        var tree = before
        #expect(!tree.edit { edit in edit.remove(RankedKey(prefix: 7, id: 8)) })
        #expect(tree.isIdentical(to: before))
    }

    @Test func aTreeIsAsBeforeWhenItsEditFails() {
        struct Failure: Error {}
        let before = RankedTree(sorted: (0..<100).map { entry($0, id: $0) }, shape: smallNodes)
        var tree = before
        #expect(throws: Failure.self) {
            try tree.edit { edit in
                edit.remove(RankedKey(prefix: 7, id: 7))
                throw Failure()
            }
        }
        #expect(tree.isIdentical(to: before))
        #expect(tree.count == 100)
        #expect(RankedTree.checkReferences(from: [tree, before]) == nil)
    }

    @Test func bytesBehindTheEighthDecideWhereTheFirstEightTie() {
        let texts = ["12345678", "12345678a", "12345678b", "12345678ba", "2"]
        let entries = texts.enumerated().map { RankedEntry(key: key($1, id: UInt64(9 - $0)), stamp: 1) }
        let tree = RankedTree(sorted: entries, shape: smallNodes)
        #expect(tree.checkInvariants() == nil)
        #expect(tree.rank(of: key("12345678b", id: 7)) == 2)
        #expect(tree.lowerBound(of: bound("12345678b")) == 2)
        #expect(tree.lowerBound(of: bound("1234")) == 0)
        #expect(tree.lowerBound(of: bound("12345678c")) == 4)
    }

    @Test func aWindowHasItsLowerBoundAndNotItsUpper() {
        let tree = RankedTree(sorted: (0..<100).map { entry($0 / 2, id: $0) }, shape: smallNodes)
        let window = TreeWindow(lower: SortKeyBound(prefix: 10), upper: SortKeyBound(prefix: 20))
        #expect(tree.ranks(in: window) == 20..<40)
        #expect(tree.slice(window).id(at: 0) == 20)
        #expect(tree.slice(TreeWindow(lower: SortKeyBound(prefix: 20), upper: SortKeyBound(prefix: 10))).count == 0)
        #expect(tree.slice(.all).count == 100)
    }

    @Test func rowsInAscendingOrderFillTheirNodes() {
        var tree = RankedTree()
        tree.edit { edit in for value in 0..<10_000 { edit.insert(entry(UInt64(value), id: 1)) } }
        #expect(tree.checkInvariants() == nil)
        var leaves = 0
        var rank = 0
        while rank < tree.count {
            rank += tree.leaf(at: rank).leaf.used
            leaves += 1
        }
        #expect(leaves <= 10_000 / 47)
    }

    @Test func aMergeSharesTheLeavesNothingHappenedIn() {
        let before = RankedTree(sorted: (0..<1_000).map { entry($0, id: $0) }, shape: smallNodes)
        var tree = before
        tree.mergeRebuild(removing: [RankedKey(prefix: 500, id: 500)], inserting: [entry(2_000, id: 500, stamp: 2)])
        #expect(tree.checkInvariants() == nil)
        #expect(tree.count == 1_000)
        #expect(tree.leaf(at: 0).leaf == before.leaf(at: 0).leaf)
        #expect(tree.leaf(at: 500).leaf != before.leaf(at: 500).leaf)
        #expect(RankedTree.checkReferences(from: [before, tree]) == nil)
    }

    /// One row costs one path of nodes, and more rows in the same leaf no further copy.
    @Test func anEditCopiesEachNodeOnce() {
        let before = RankedTree(sorted: (0..<1_000).map { entry($0 * 10, id: $0) })
        var edit = RankedEdit(before)
        edit.insert(entry(1, id: 1))
        let nodes = edit.pathToFirstLeaf
        edit.insert(entry(2, id: 2))
        edit.insert(RankedEntry(key: RankedKey(prefix: 1, id: 1), stamp: 7))
        #expect(edit.pathToFirstLeaf == nodes)
        let tree = edit.finish()
        #expect(before.leaf(at: 0).leaf != tree.leaf(at: 0).leaf)
        #expect(tree.leaf(at: 999).leaf == before.leaf(at: 997).leaf)
        #expect(tree.count == 1_002)
    }
}
