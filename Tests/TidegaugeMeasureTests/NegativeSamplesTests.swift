// Tests of samples below zero: they keep their sign from the recorder to the log and back.
import StillingWellSeededRandom
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite("Negative samples")
struct NegativeSamplesTests {
    private func samples(_ seed: UInt64) -> [Int64] {
        var random = SeededRandom(seed: seed)
        return (0..<2_000).map { _ in
            let magnitude = Int64.random(in: 0...9, using: &random) << Int64.random(in: 0...30, using: &random)
            return Bool.random(using: &random) ? magnitude : -magnitude
        }
    }

    @Test("Percentiles, mean and extremes are those of the sorted samples", arguments: seeds(30))
    func bruteForce(seed: UInt64) throws {
        let samples = samples(seed)
        var parts = [LatencyHistogram(), LatencyHistogram()]
        for (index, sample) in samples.enumerated() { parts[index % 2].record(sample) }
        var histogram = parts[0]
        histogram.add(parts[1])
        let sorted = samples.sorted()
        for (statistic, rank) in [(Statistic.p50, 1_000), (.p90, 1_800), (.p99, 1_980)] {
            let value = try #require(histogram.percentile(statistic)).value
            let truth = sorted[rank - 1]
            #expect(value >= truth && Double(value - truth) <= Double(truth.magnitude) * 0.001)
        }
        #expect(histogram.min == sorted.first && histogram.max == sorted.last)
        // Sums of integers below 2⁵³ are exact.
        #expect(histogram.mean == Double(samples.reduce(0, +)) / 2_000)
        #expect(histogram.negativeCount == samples.count { $0 < 0 })
    }

    @Test("Negative samples survive the encodings between processes and in a log", arguments: seeds(10))
    func code(seed: UInt64) throws {
        let samples = samples(seed)
        var histogram = LatencyHistogram()
        samples.forEach { histogram.record($0) }
        let record = try #require(histogram.record(for: .deliveryLatency, lengthNs: 1))
        var read = ValueDistribution()
        try read.add(samples: record.samples, negated: record.negated)
        #expect(read.total == 2_000 && record.negatedMax == -samples.min()!)
        let cumulative = read.cumulative()
        #expect(cumulative.map(\.value) == cumulative.map(\.value).sorted())
        let sorted = samples.sorted()
        for (value, seen) in cumulative {
            let truth = sorted[Int(seen) - 1]
            #expect(value >= truth && Double(value - truth) <= Double(truth.magnitude) * 0.001)
        }
        var half = ValueDistribution()
        #expect(throws: HistogramCode.Damage.self) { try half.add(samples: record.samples, negated: "nothing") }
        #expect(half.total == 0)
    }

    @Test("Without negative samples the record has no part for them")
    func noneNegative() throws {
        var histogram = LatencyHistogram()
        histogram.record(5)
        let record = try #require(histogram.record(for: .deliveryLatency, lengthNs: 1))
        #expect(record.negated == nil && record.negatedMax == nil)
    }

    @Test("A negative censored bound counts as 0")
    func bounds() {
        var histogram = LatencyHistogram()
        histogram.recordCensored(-5)
        #expect(histogram.min == 0 && histogram.percentile(.p50)?.isLowerBound == true && histogram.negativeCount == 0)
    }
}
