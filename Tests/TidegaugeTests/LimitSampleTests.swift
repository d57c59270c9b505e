// Tests of limits on percentiles. They are judged by the number of samples beyond the bound, with or without a value.
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure
@testable import TidegaugeRun
@testable import TidegaugeTrial

@Suite struct LimitSampleTests {
    /// Makes a trial's figures of a latency. Samples begin `everyNs` after each other.
    private func entries(
        _ lengthsNs: [Int64], everyNs: Int64 = 10_000_000, flags: [FigureFlag] = [], noise: String? = nil,
        keepsSamples: Bool = true
    ) -> [LimitCheck.Entry] {
        var histogram = LatencyHistogram()
        for (place, lengthNs) in lengthsNs.enumerated() {
            let fromNs = Int64(place) * everyNs
            histogram.record(fromNs, fromNs + lengthNs, seenUntil: .max)
        }
        let record = keepsSamples ? histogram.record(for: .endToEndLatency, lengthNs: 1) : nil
        return histogram.figures(for: .endToEndLatency, flags: flags).map {
            .init(
                driver: "d", variant: "", figure: $0, noise: noise, samples: record,
                lowest: histogram.min.map { Double($0) })
        }
    }

    private func judged(
        _ statistic: String, _ comparison: Limit.Comparison, _ boundNs: Double, _ entries: [LimitCheck.Entry]
    ) throws -> Judgement {
        let limit = Limit(.endToEndLatency, statistic: statistic, comparison, boundNs)
        return try #require(LimitCheck(scenario: "s", limits: [limit], entries: entries).judgements().first)
    }

    @Test(arguments: [true, false]) func aLimitThatEverySampleBreaksIsBroken(keepsSamples: Bool) throws {
        let slow = entries(Array(repeating: 143_000, count: 109), keepsSamples: keepsSamples)
        let judgement = try judged("p99", .less, 1_000, slow)
        #expect(judgement.verdict == .broken)
        #expect(judgement.text.contains("109 of 109 samples are beyond it"), "\(judgement.text)")
    }

    @Test func aStoreThatFallsBehindBreaksTheLimitThatItNeverKeeps() throws {
        let late = (0..<200).map { 1_330_000_000 + Int64($0) * 10_000_000 }
        #expect(try judged("p99", .less, 16e6, entries(late, flags: [.notSteady])).verdict == .broken)
        // The samples before the delay make no difference.
        let later = Array(repeating: Int64(1_000), count: 20) + late
        #expect(try judged("p99", .less, 16e6, entries(later, flags: [.notSteady])).verdict == .broken)
    }

    @Test func aStallCountsOnce() throws {
        // A stall of 300 ms. Each of 30 samples waited for the rest of it.
        let stall = (0..<30).map { 300_000_000 - Int64($0) * 10_000_000 }
        let calm = Array(repeating: Int64(100_000), count: 400)
        let once = try judged("p99", .less, 1e6, entries(calm + stall + calm))
        #expect(once.verdict == .unknown)
        #expect(once.text.contains("30 of 830 samples are beyond it (1 stall)"), "\(once.text)")
        let often = (0..<40).flatMap { _ in calm.prefix(20) + stall }
        #expect(try judged("p99", .less, 1e6, entries(often)).verdict == .broken)
    }

    @Test func aDisturbedTrialStaysUnknownAndSaysSo() throws {
        let slow = entries(Array(repeating: 143_000, count: 109), noise: "steal=3.1%")
        let judgement = try judged("p99", .less, 1_000, slow)
        #expect(judgement.verdict == .unknown)
        #expect(judgement.held?.reason?.contains("noisy machine: steal=3.1%") ?? false, "\(judgement.text)")
    }

    @Test func aValueBeyondTheBoundByChanceIsUnknown() throws {
        // 1,020 samples, 12 of them beyond the bound. So the percentile is beyond it, by two samples.
        let near = (0..<1_020).map { $0 % 90 == 0 ? Int64(2_000_000) : 100_000 }
        let judgement = try judged("p99", .less, 1e6, entries(near))
        #expect(judgement.verdict == .unknown && judgement.text.contains("may be chance"), "\(judgement.text)")
        let far = (0..<1_020).map { $0 % 30 == 0 ? Int64(2_000_000) : 100_000 }
        #expect(try judged("p99", .less, 1e6, entries(far)).verdict == .broken)
        #expect(try judged("p99", .less, 3e6, entries(far)).verdict == .kept)
    }

    @Test func lowerBoundsAreJudgedByTheSamplesUnderThem() throws {
        let quick = entries(Array(repeating: 1_000, count: 15))
        #expect(try judged("p50", .greaterOrEqual, 1e6, quick).verdict == .broken)
        #expect(try judged("p50", .greaterOrEqual, 500, entries(Array(repeating: 1_000, count: 30))).verdict == .kept)
    }

    @Test func aBucketThatTheBoundLiesInIsNotBeyondIt() throws {
        // The bucket of 999,900 ns extends above a millisecond.
        #expect(try judged("p99", .less, 1e6, entries(Array(repeating: 999_900, count: 109))).verdict == .unknown)
    }

    @Test func aValueThatIsOnlyALowerBoundKeepsNoLimit() throws {
        var histogram = LatencyHistogram()
        for place in 0..<30 { histogram.record(Int64(place), nil, seenUntil: 1_000) }
        let censored = histogram.figures(for: .endToEndLatency).map {
            LimitCheck.Entry(driver: "d", variant: "", figure: $0, noise: nil)
        }
        let judgement = try judged("p50", .less, 1e6, censored)
        #expect(
            judgement.verdict == .unknown && judgement.text.contains("30 samples had not ended"), "\(judgement.text)")
    }
}
