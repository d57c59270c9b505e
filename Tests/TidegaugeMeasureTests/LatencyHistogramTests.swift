import StillingWellSeededRandom
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite("Latency histogram")
struct LatencyHistogramTests {
    private func figure(_ figures: [Figure], _ statistic: Statistic) throws -> Figure {
        try #require(figures.first { $0.statistic == statistic })
    }

    @Test(
        "A percentile needs ten samples beyond it",
        arguments: [
            (Statistic.p50, 20), (.p90, 100), (.p99, 1_000), (.p99_9, 10_000), (.p99_99, 100_000),
        ])
    func tenBeyond(statistic: Statistic, needed: Int) throws {
        var histogram = LatencyHistogram()
        histogram.record(5_000, count: needed - 1)
        #expect(try figure(histogram.figures(for: .deliveryLatency), statistic).value == nil)
        histogram.record(5_000)
        let carried = try figure(histogram.figures(for: .deliveryLatency), statistic)
        #expect(carried.value == 5_000 && carried.n == needed && carried.flags.isEmpty)
    }

    @Test("Percentiles are those of the sorted samples, to three digits", arguments: seeds(50))
    func bruteForce(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var histogram = LatencyHistogram()
        // Over twelve decades, so that buckets of many widths occur.
        let samples = (0..<2_000).map { _ in
            Int64.random(in: 0...9, using: &random) << Int64.random(in: 0...38, using: &random)
        }
        samples.forEach { histogram.record($0) }
        let sorted = samples.sorted()
        for (statistic, rank) in [(Statistic.p50, 1_000), (.p90, 1_800), (.p99, 1_980)] {
            let value = try #require(histogram.percentile(statistic)).value
            let truth = sorted[rank - 1]
            #expect(value >= truth && Double(value) <= Double(truth) * 1.001)
        }
        #expect(histogram.min == sorted.first && histogram.max == sorted.last)
        let mean = try #require(histogram.mean)
        let trueMean = samples.reduce(0.0) { $0 + Double($1) } / 2_000
        #expect(abs(mean - trueMean) <= trueMean * 1e-12)
    }

    @Test(
        "With censored samples a percentile is exact or a true bound, whatever their values were", arguments: seeds(50))
    func censoredBruteForce(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var histogram = LatencyHistogram()
        var truth: [Int64] = []
        for _ in 0..<1_500 {
            let value = Int64.random(in: 1...2_000, using: &random)
            truth.append(value)
            if Int.random(in: 0..<100, using: &random) < 3 {
                histogram.recordCensored(Int64.random(in: 1...value, using: &random))
            } else {
                histogram.record(value)
            }
        }
        truth.sort()
        for (statistic, rank) in [(Statistic.p50, 750), (.p90, 1_350), (.p99, 1_485)] {
            let percentile = try #require(histogram.percentile(statistic))
            if percentile.isLowerBound {
                #expect(percentile.value <= truth[rank - 1])
            } else {
                #expect(percentile.value == truth[rank - 1])
            }
        }
    }

    @Test("A hang at the end raises the tail to a bound and leaves the rest a figure")
    func hang() throws {
        var histogram = LatencyHistogram()
        for ns in 1...990 as ClosedRange<Int64> { histogram.record(ns) }
        for _ in 0..<20 { histogram.recordCensored(5_000_000_000) }
        let figures = histogram.figures(for: .endToEndLatency)
        let p50 = try figure(figures, .p50)
        #expect(p50.value == 505 && p50.flags.isEmpty && p50.censored == 20 && p50.n == 1_010)
        let p99 = try figure(figures, .p99)
        #expect(try #require(p99.value) >= 5e9 && p99.flags == [.atLeast])
        #expect(try figure(figures, .max).flags == [.atLeast])
        #expect(try figure(figures, .mean).flags == [.atLeast])
        #expect(try figure(figures, .min).flags.isEmpty)
    }

    @Test("Negative samples count with their values and are flagged")
    func negative() throws {
        var histogram = LatencyHistogram()
        histogram.record(-5)
        histogram.record(-7, count: 2)
        histogram.record(10)
        #expect(histogram.count == 4 && histogram.negativeCount == 3)
        #expect(histogram.min == -7 && histogram.max == 10 && histogram.mean == -2.25)
        #expect(try figure(histogram.figures(for: .deliveryLatency), .count).flags == [.negative(samples: 3)])
    }

    @Test("No value is clamped: Int64.max is recorded")
    func noClamp() throws {
        var histogram = LatencyHistogram()
        for ns in [0, 1, 1 << 40, Int64.max] { histogram.record(ns, count: 10) }
        #expect(histogram.count == 40 && histogram.max == .max)
        #expect(try #require(histogram.percentile(.p99)).value == .max)
    }

    @Test("Merged histograms are the histogram of all samples", arguments: seeds(5))
    func merge(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var parts = [LatencyHistogram(), LatencyHistogram(), LatencyHistogram()]
        var whole = LatencyHistogram()
        for _ in 0..<3_000 {
            let value = Int64.random(in: -10...1_000_000, using: &random)
            let part = Int.random(in: 0..<3, using: &random)
            if value % 50 == 0 {
                parts[part].recordCensored(value)
                whole.recordCensored(value)
            } else {
                parts[part].record(value)
                whole.record(value)
            }
        }
        var merged = LatencyHistogram()
        parts.forEach { merged.add($0) }
        #expect(merged.figures(for: .lockWait) == whole.figures(for: .lockWait))
    }

    @Test("An empty histogram has a count of 0, and no other figure has a value")
    func empty() {
        for figure in LatencyHistogram().figures(for: .fanoutSpan) {
            #expect(figure.value == (figure.statistic == .count ? 0 : nil) && figure.flags.isEmpty)
        }
    }
}
