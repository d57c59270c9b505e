// Tests of a ranked tree by example.
import Testing

@testable import StillingWell
@testable import StillingWellTree

private let smallNodes = RankedTree.Shape(leafCapacity: 4, innerCapacity: 4)

private func entry(_ key: UInt64, id: UInt64, stamp: UInt64 = 1) -> RankedEntry {
    RankedEntry(key: RankedKey(prefix: key, id: id), stamp: stamp)
}

@Suite struct RankedTreeTests {
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

    /// Further rows in the same leaf cost no further copy.
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
