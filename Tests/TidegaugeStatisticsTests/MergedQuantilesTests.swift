import Foundation
import StillingWellSeededRandom
import Testing

@testable import TidegaugeStatistics

@Suite("Merged quantiles")
struct MergedQuantilesTests {
    private func counts(_ samples: [Double]) -> SampleCounts {
        Dictionary(grouping: samples) { $0 }.map { (value: $0.key, count: $0.value.count) }.sorted {
            $0.value < $1.value
        }
    }

    @Test("The quantile is that of all samples in one list", arguments: seeds(20))
    func byDefinition(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func side(_ low: Int) -> [[Double]] {
            (0..<6).map { _ in
                (0..<Int.random(in: 1...40, using: &random)).map { _ in
                    Double(Int.random(in: low...(low + 50), using: &random))
                }
            }
        }
        let base = side(100)
        let head = side(150)
        let merged = MergedQuantiles(base: base.map(counts), head: head.map(counts))
        var draws = SplitMix64(seed: seed)
        for p in [0.1, 0.5, 0.99] {
            func quantile(_ side: [[Double]]) -> Double {
                let all = side.joined().sorted()
                return all[max(1, Int((p * Double(all.count)).rounded(.up))) - 1]
            }
            let ratio = try #require(merged.logRatio(at: p, resamples: 50, using: &draws))
            #expect(abs(ratio.estimate - log(quantile(head) / quantile(base))) < 1e-12)
            #expect(ratio.interval.low <= ratio.interval.high)
        }
    }

    @Test("The interval treats samples of one trial as dependent, and contains the true value")
    func coverage() throws {
        var random = SeededRandom(seed: 1)
        var draws = SplitMix64(seed: 1)
        var held = 0
        for _ in 0..<200 {
            // All samples of a trial share its level, so variance within a run is not the noise between runs.
            func trial() -> SampleCounts {
                let level = normal(&random) * 0.1
                return counts((0..<50).map { _ in 1_000 * exp(level + 0.02 * normal(&random)) })
            }
            let merged = MergedQuantiles(base: (0..<20).map { _ in trial() }, head: (0..<20).map { _ in trial() })
            let ratio = try #require(merged.logRatio(at: 0.5, resamples: 300, using: &draws))
            if ratio.interval.low <= 0 && 0 <= ratio.interval.high { held += 1 }
        }
        #expect((178...200).contains(held), "\(held)")
    }

    @Test("Without samples there is no ratio")
    func empty() {
        var draws = SplitMix64(seed: 1)
        #expect(MergedQuantiles(base: [], head: []).logRatio(at: 0.5, using: &draws) == nil)
        #expect(MergedQuantiles(base: [[]], head: [counts([1])]).logRatio(at: 0.5, resamples: 10, using: &draws) == nil)
    }
}
