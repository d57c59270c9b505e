import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

@Suite("Hodges–Lehmann")
struct HodgesLehmannTests {
    @Test("The location is the median of the Walsh averages, by hand")
    func byHand() {
        // Averages of 1, 2, 6: 1, 1.5, 3.5, 2, 4, 6.
        #expect(HodgesLehmann.walshAverages([1, 2, 6]).sorted() == [1, 1.5, 2, 3.5, 4, 6])
        #expect(HodgesLehmann.location([1, 2, 6]) == 2.75)
        #expect(HodgesLehmann.location([]) == nil)
    }

    @Test("The location is that of the definition, written out", arguments: seeds(50))
    func byDefinition(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let values = (0..<Int.random(in: 1...20, using: &random)).map { _ in Double.random(in: -5...5, using: &random) }
        var averages: [Double] = []
        for i in 0..<values.count {
            for j in 0...i { averages.append((values[i] + values[j]) / 2) }
        }
        averages.sort()
        let n = averages.count
        let expected = n % 2 == 1 ? averages[n / 2] : (averages[n / 2 - 1] + averages[n / 2]) / 2
        let location = try #require(HodgesLehmann.location(values))
        #expect(abs(location - expected) < 1e-12)
    }
}
