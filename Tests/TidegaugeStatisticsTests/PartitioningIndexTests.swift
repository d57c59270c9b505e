// Tests of the binary search against a linear search.
import StillingWellBasis
import StillingWellSeededRandom
import Testing

@Suite struct PartitioningIndexTests {
    @Test(arguments: seeds(50))
    func findsWhatAWalkFinds(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let values = (0..<random.below(40)).map { _ in random.below(12) }.sorted()
        // A slice whose indices may begin above zero.
        let slice = values.dropFirst(random.below(4))
        for bound in -1...13 {
            var asked = 0
            let found = slice.partitioningIndex {
                asked += 1
                return $0 >= bound
            }
            #expect(found == slice.firstIndex { $0 >= bound } ?? slice.endIndex, "seed \(seed), bound \(bound)")
            #expect(asked <= 6, "\(asked) of \(slice.count) elements were looked at")
        }
    }
}
