// Tests of the bend between two power laws: it is found at its place, and not found where there is none.
import StillingWellSeededRandom
import Testing
import TidegaugeStatistics

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct SegmentedFitTests {
    private let rates: [Double] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]

    private func bent(_ knee: Double, _ lower: Double, _ upper: Double) -> [Double] {
        rates.map { $0 < knee ? pow($0 / knee, lower) : pow($0 / knee, upper) }
    }

    @Test(arguments: [(500.0, 0.0, 1.0), (3_000, 0.1, 1.2), (20_000, 0, 0.5), (7_777, 1, 0)])
    func theKneeIsWhereItWasPut(knee: Double, lower: Double, upper: Double) throws {
        let fit = try #require(SegmentedFit.fit(x: rates, y: bent(knee, lower, upper)))
        #expect(abs(log(fit.knee / knee)) < 0.03)
        #expect(abs(fit.lowerExponent - lower) < 0.02)
        #expect(abs(fit.upperExponent - upper) < 0.02)
    }

    @Test func noiseMovesItLittle() throws {
        for seed in seeds(20) {
            var random = SeededRandom(seed: seed)
            let y = bent(5_000, 0, 1).map { $0 * exp(0.1 * (Double.random(in: -1...1, using: &random))) }
            let fit = try #require(SegmentedFit.fit(x: rates, y: y), "seed \(seed)")
            #expect(abs(log(fit.knee / 5_000)) < 0.7, "seed \(seed): \(fit)")
        }
    }

    @Test func aStraightLineHasNoKnee() {
        #expect(SegmentedFit.fit(x: rates, y: rates.map { pow($0, 0.7) }) == nil)
        #expect(SegmentedFit.fit(x: rates, y: rates.map { _ in 1 }) == nil)
        var found = 0
        for seed in seeds(50) {
            var random = SeededRandom(seed: seed)
            let y = rates.map { _ in exp(0.2 * Double.random(in: -1...1, using: &random)) }
            if SegmentedFit.fit(x: rates, y: y) != nil { found += 1 }
        }
        #expect(found <= 3)
    }

    @Test func tooFewPointsHaveNone() {
        #expect(SegmentedFit.fit(x: [1, 2, 3, 4], y: [1, 1, 2, 4]) == nil)
        #expect(SegmentedFit.fit(x: [], y: []) == nil)
        // Points without a logarithm do not count.
        #expect(SegmentedFit.fit(x: [0, 1, 2, 4, 8], y: [1, 1, 1, 2, 4]) == nil)
    }

    @Test func pointsMayComeInAnyOrderAndTwice() throws {
        let y = bent(2_500, 0, 1)
        let there = try #require(SegmentedFit.fit(x: rates + rates, y: y + y))
        let back = try #require(SegmentedFit.fit(x: (rates + rates).reversed(), y: (y + y).reversed()))
        #expect(abs(there.knee / back.knee - 1) < 1e-9)
    }
}
