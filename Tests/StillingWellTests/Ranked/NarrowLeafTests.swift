// Tests of leaves whose words share their upper halves, and of changes that make them wide.
import Testing

@testable import StillingWell
@testable import StillingWellTree

@Suite struct NarrowLeafTests {
    private static let start: UInt64 = 7 << 32

    private static func entry(_ number: UInt64, stamp: UInt64 = 1) -> RankedEntry {
        RankedEntry(key: RankedKey(prefix: start + number, id: start + number), stamp: stamp)
    }

    private static func entries(_ numbers: Range<UInt64>) -> [RankedEntry] { numbers.map { entry($0) } }

    @Test func aLeafOfNearRowsIsNarrowHoweverItCameToBe() {
        var edited = RankedTree()
        edited.edit { edit in for entry in Self.entries(0..<200) { edit.insert(entry) } }
        let numbers = (0..<200).map { RankedNumber(prefix: Self.start + $0, id: Self.start + $0) }
        let ofNumbers = numbers.withUnsafeBufferPointer { RankedTree(sorted: $0, stamp: 1) }
        var merged = RankedTree(sorted: Self.entries(0..<100))
        merged.mergeRebuild(removing: [], inserting: Self.entries(100..<200))
        for tree in [RankedTree(sorted: Self.entries(0..<200)), edited, ofNumbers, merged] {
            #expect(tree.checkInvariants() == nil)
            #expect((0..<200).allSatisfy { tree.leaf(at: $0).leaf.isNarrow })
            #expect(Array(tree.entries) == Self.entries(0..<200))
        }
    }

    /// Each case has one word with another upper half.
    @Test(arguments: [
        RankedEntry(key: RankedKey(prefix: start << 1, id: start), stamp: 1),
        RankedEntry(key: RankedKey(prefix: start, id: 3), stamp: 1),
        RankedEntry(key: RankedKey(prefix: start, id: start + 1), stamp: start),
    ])
    func aRowThatIsFarMakesItsLeafWideAndNoOther(far: RankedEntry) {
        let before = RankedTree(sorted: Self.entries(0..<200))
        var tree = before
        tree.edit { $0.insert(far) }
        let rank = tree.rank(of: far.key)!
        #expect(!tree.leaf(at: rank).leaf.isNarrow)
        #expect(tree.leaf(at: rank < 100 ? 199 : 0).leaf.isNarrow)
        #expect(tree.entry(at: rank) == far)
        #expect(tree.checkInvariants() == nil)
        #expect(Array(before.entries) == Self.entries(0..<200))
        let built = RankedTree(sorted: (Self.entries(0..<200) + [far]).sorted { $0.key < $1.key })
        #expect(Array(built.entries) == Array(tree.entries))
        #expect(TreeDifference(from: tree, to: built).changeSet(in: .all) == ChangeSet.between(built, built, in: .all))
    }

    @Test func whatIsSoughtMayHaveAnotherUpperHalf() {
        let tree = RankedTree(sorted: Self.entries(0..<50))
        #expect(tree.lowerBound(of: SortKeyBound(prefix: 5)) == 0)
        #expect(tree.lowerBound(of: SortKeyBound(prefix: Self.start + 5)) == 5)
        #expect(tree.lowerBound(of: SortKeyBound(prefix: Self.start << 1 + 5)) == 50)
        #expect(tree.rank(of: RankedKey(prefix: 5, id: Self.start + 5)) == nil)
        #expect(tree.rank(of: RankedKey(prefix: Self.start + 5, id: 5)) == nil)
        #expect(tree.rank(of: RankedKey(prefix: Self.start + 5, id: Self.start + 5)) == 5)
    }

    @Test func aStampThatIsFarIsKeptWhole() {
        var tree = RankedTree(sorted: Self.entries(0..<50))
        tree.edit { $0.insert(Self.entry(7, stamp: Self.start)) }
        #expect(tree.stamp(of: Self.entry(7).key) == Self.start)
        #expect(tree.stamp(of: Self.entry(8).key) == 1)
        #expect(tree.count == 50)
    }
}
