import Foundation
import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

/// Returns a normal sample by the method of Box and Muller.
func normal(_ random: inout SeededRandom) -> Double {
    let radius = (-2 * Foundation.log(1 - Double.random(in: 0..<1, using: &random))).squareRoot()
    return radius * Foundation.cos(2 * .pi * Double.random(in: 0..<1, using: &random))
}

@Suite("Signed rank")
struct SignedRankTests {
    /// Returns the p-value, counted over all 2ⁿ assignments of signs.
    private func enumerated(_ differences: [Double]) -> Double {
        let ranks = zip(differences, SignedRank.doubledRanks(differences)).filter { $0.0 != 0 }
        let observed = ranks.reduce(0) { $0 + ($1.0 > 0 ? $1.1 : 0) }
        let hits = (0..<(1 << ranks.count)).count { signs in
            ranks.indices.reduce(0) { $0 + (signs >> $1 & 1 == 1 ? ranks[$1].1 : 0) } >= observed
        }
        return Double(hits) / Double(1 << ranks.count)
    }

    @Test("The tail is that of all signs, for every n up to 12, with ties and zeros", arguments: 1...12)
    func tailByEnumeration(count: Int) {
        for seed in seeds(20) {
            var random = SeededRandom(seed: seed)
            // Even seeds use a coarse grid, so that values tie and some are zero.
            let differences = (0..<count).map { _ in
                seed.isMultiple(of: 2)
                    ? Double(Int.random(in: -4...6, using: &random)) : Double.random(in: -1...2, using: &random)
            }
            let expected = differences.allSatisfy { $0 == 0 } ? 1 : enumerated(differences)
            let p = SignedRank.test(differences).pValue
            #expect(abs(p - expected) < 1e-12, "n \(count), seed \(seed): \(p), not \(expected)")
        }
    }

    @Test("If all values have one sign, p is the smallest possible; without non-zero values p is 1")
    func extremes() {
        #expect(SignedRank.test([1, 2, 3, 4, 5]).pValue == 1.0 / 32)
        #expect(SignedRank.smallestP(pairs: 5) == 1.0 / 32)
        #expect(SignedRank.test([-1, -2, -3]).pValue == 1)
        #expect(SignedRank.test([0, 0, 0]).pValue == 1)
        #expect(SignedRank.test([]).pValue == 1)
    }

    @Test("A zero difference has a rank but does not count for either sign (Pratt)")
    func prattZeros() {
        // Ranks 1 (the zero), 2, 3, 4. The positive ones are 2 + 4 of the counted ranks 2, 3, 4.
        let test = SignedRank.test([0, 1, -2, 3])
        #expect(test.doubledRankSum == 2 * (2 + 4) && test.nonZeroCount == 3)
        // Subsets of {2, 3, 4} with a sum of at least 6: {2,4}, {3,4}, {2,3,4}.
        #expect(test.pValue == 3.0 / 8)
    }

    @Test("At α = 1 % it is falsely red on between 0.3 and 1.9 % of 2 000 samples without an effect")
    func size() {
        for (count, seed) in [(20, UInt64(1)), (10, 2), (40, 3)] {
            var random = SeededRandom(seed: seed)
            let red = (0..<2_000).count { _ in
                SignedRank.test((0..<count).map { _ in normal(&random) }).pValue < 0.01
            }
            let share = Double(red) / 2_000
            #expect(share >= 0.003 && share <= 0.019, "n \(count): \(share)")
        }
    }

    @Test("It keeps its size where single pairs are wild")
    func sizeUnderOutliers() {
        var random = SeededRandom(seed: 4)
        let red = (0..<2_000).count { _ in
            let differences = (0..<20).map { _ in
                normal(&random) * (Int.random(in: 0..<10, using: &random) == 0 ? 50 : 1)
            }
            return SignedRank.test(differences).pValue < 0.01
        }
        #expect((0.003...0.019).contains(Double(red) / 2_000), "\(red)")
    }

    @Test("It finds what the detectable effect says it finds, about as often")
    func power() throws {
        let detectable = DetectableEffect(alpha: 0.01, beta: 0.2)
        let effect = try #require(detectable.effect(sigma: 1, pairs: 20))
        var random = SeededRandom(seed: 5)
        let found = (0..<1_000).count { _ in
            SignedRank.test((0..<20).map { _ in normal(&random) + effect }).pValue < 0.01
        }
        #expect((0.72...0.86).contains(Double(found) / 1_000), "\(found)")
    }

    @Test("The 95 % interval holds the truth in between 93.5 and 96.5 % of 2 000 samples", arguments: [10, 20, 40])
    func coverage(count: Int) throws {
        var random = SeededRandom(seed: 6)
        var held = 0
        for _ in 0..<2_000 {
            let values = (0..<count).map { _ in normal(&random) + 0.3 }
            let interval = try #require(LocationInterval.twoSided(values, confidence: 0.95))
            if interval.low <= 0.3 && 0.3 <= interval.high { held += 1 }
        }
        #expect((0.935...0.965).contains(Double(held) / 2_000), "\(held)")
    }

    @Test("The interval ends where the test begins to reject", arguments: seeds(20))
    func intervalIsTheTestInverted(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let values = (0..<15).map { _ in normal(&random) }
        let low = try #require(LocationInterval.twoSided(values, confidence: 2 * 0.95 - 1)?.low)
        #expect(SignedRank.test(above: low - 1e-9, values).pValue <= 0.05)
        #expect(SignedRank.test(above: low + 1e-9, values).pValue > 0.05)
        let high = try #require(LocationInterval.upperBound(values, confidence: 0.95))
        let mirrored = values.map { -$0 }
        #expect(abs(high + (LocationInterval.twoSided(mirrored, confidence: 2 * 0.95 - 1)?.low ?? 0)) < 1e-12)
    }

    @Test("Too few values have no interval")
    func fewValues() {
        #expect(LocationInterval.twoSided([1, 2, 3, 4, 5], confidence: 0.95) == nil)
        #expect(LocationInterval.twoSided([1, 2, 3, 4, 5, 6], confidence: 0.95) == LocationInterval(low: 1, high: 6))
        #expect(LocationInterval.upperBound([1, 2, 3, 4, 5], confidence: 0.95) == 5)
        #expect(LocationInterval.twoSided([], confidence: 0.95) == nil)
    }
}
