import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

@Suite("Change points")
struct ChangePointsTests {
    private func series(_ levels: [(count: Int, mean: Double)], _ random: inout SeededRandom) -> [Double] {
        levels.flatMap { level in (0..<level.count).map { _ in level.mean + normal(&random) } }
    }

    @Test("A clear step is found where it is", arguments: seeds(5))
    func oneStep(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var draws = SplitMix64(seed: seed)
        let breaks = ChangePoints().breaks(series([(20, 0), (12, 5)], &random), using: &draws)
        #expect(breaks == [20], "seed \(seed)")
    }

    @Test("Two steps are two breaks")
    func twoSteps() {
        var random = SeededRandom(seed: 1)
        var draws = SplitMix64(seed: 1)
        let breaks = ChangePoints().breaks(series([(25, 0), (25, 6), (25, 1)], &random), using: &draws)
        #expect(breaks == [25, 50])
    }

    @Test("Noise alone is hardly ever a break")
    func noise() {
        var random = SeededRandom(seed: 2)
        var draws = SplitMix64(seed: 2)
        let points = ChangePoints(significance: 0.01, shuffles: 199)
        let found = (0..<100).count { _ in !points.breaks(series([(25, 0)], &random), using: &draws).isEmpty }
        #expect(found <= 4, "\(found)")
    }

    @Test("A break needs its points behind it")
    func tooFew() {
        var random = SeededRandom(seed: 3)
        var draws = SplitMix64(seed: 3)
        #expect(ChangePoints().breaks(series([(20, 0), (2, 50)], &random), using: &draws).allSatisfy { $0 < 20 })
        #expect(ChangePoints().breaks([1, 2, 3], using: &draws).isEmpty)
        #expect(ChangePoints().breaks(Array(repeating: 1, count: 30), using: &draws).isEmpty)
    }

    @Test("The strongest division is that of the definition", arguments: seeds(20))
    func byDefinition(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let values = series([(7, 0), (8, 1)], &random)
        func mean(_ pairs: [(Double, Double)]) -> Double {
            pairs.reduce(0) { $0 + abs($1.0 - $1.1) } / Double(pairs.count)
        }
        func within(_ part: [Double]) -> [(Double, Double)] {
            part.indices.flatMap { i in part[..<i].map { (part[i], $0) } }
        }
        let strengths = (3...12).map { place -> Double in
            let left = Array(values[..<place])
            let right = Array(values[place...])
            let across = left.flatMap { x in right.map { (x, $0) } }
            let energy = 2 * mean(across) - mean(within(left)) - mean(within(right))
            return Double(left.count * right.count) / Double(values.count) * energy
        }
        let best = try #require(ChangePoints().strongest(values))
        let expected = try #require(strengths.max())
        #expect(abs(best.strength - expected) < 1e-9 && best.place == strengths.firstIndex(of: expected)! + 3)
    }
}
