import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

@Suite("Many tests at once")
struct ManyTestsTests {
    @Test("Benjamini and Hochberg's, by hand")
    func benjaminiHochberg() {
        let adjusted = ManyTests.benjaminiHochberg([0.01, 0.04, 0.03, 0.005])
        for (value, expected) in zip(adjusted, [0.02, 0.04, 0.04, 0.02]) { #expect(abs(value - expected) < 1e-12) }
    }

    @Test("An exact bound of a share, against those in every table")
    func clopperPearson() {
        // The rule of three: with no hit in n trials, the share is below 3/n with a confidence of 95 %.
        #expect(abs(ClopperPearson.upperBound(hits: 0, trials: 100) - 0.0295) < 1e-4)
        // The upper end of the two-sided 95 % for 5 of 20.
        #expect(abs(ClopperPearson.upperBound(hits: 5, trials: 20, confidence: 0.975) - 0.4910) < 1e-4)
        #expect(ClopperPearson.upperBound(hits: 3, trials: 3) == 1)
        #expect(ClopperPearson.upperBound(hits: 0, trials: 0) == 1)
    }

    @Test("Uniform values look uniform, others do not")
    func uniformity() throws {
        var random = SeededRandom(seed: 2)
        let small = (0..<500).count { _ in
            let values = (0..<100).map { _ in Double.random(in: 0..<1, using: &random) }
            return (Uniformity.test(values)?.pValue ?? 0) < 0.05
        }
        #expect((10...42).contains(small), "\(small)")
        let skewed = (0..<300).map { _ in pow2(Double.random(in: 0..<1, using: &random)) }
        #expect(try #require(Uniformity.test(skewed)).pValue < 0.001)
        #expect(Uniformity.test([]) == nil)
    }

    private func pow2(_ x: Double) -> Double { x * x }

    @Test("Quantiles of the normal distribution, against those in every table")
    func normalQuantiles() {
        for (p, z) in [(0.5, 0.0), (0.95, 1.644854), (0.975, 1.959964), (0.99, 2.326348), (0.8, 0.841621)] {
            #expect(abs(Normal.quantile(p) - z) < 1e-6)
            #expect(abs(Normal.cumulative(z) - p) < 1e-6)
        }
    }

    @Test("The detectable effect shrinks with the root of the pairs, and back again")
    func detectableEffect() throws {
        let detectable = DetectableEffect()
        // (2.326 + 0.842) / √(0.955 · 20) = 0.725 standard deviations.
        let twenty = try #require(detectable.effect(sigma: 1, pairs: 20))
        #expect(abs(twenty - 0.7249) < 1e-3)
        #expect(detectable.pairs(sigma: 1, effect: twenty + 1e-9) == 20)
        #expect(detectable.pairs(sigma: 1, effect: 0) == nil)
        #expect(detectable.pairs(sigma: 0, effect: 0.1) == 7 && detectable.fewestPairs == 7)
        // Six coins all show heads once in 64 times, which is more than α.
        #expect(detectable.effect(sigma: 1, pairs: 6) == nil && detectable.effect(sigma: 1, pairs: 0) == nil)
    }
}
