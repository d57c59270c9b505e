import Histogram
import StillingWellSeededRandom
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure

@Suite("Staleness and time-weighted distributions")
struct StalenessTests {
    typealias Commit = StalenessIntegrator.Commit
    typealias Coverage = StalenessIntegrator.Coverage

    @Test("An empty window is empty")
    func emptyWindow() {
        var integrator = StalenessIntegrator(startNs: 7, endNs: 7)
        integrator.add(commits: [Commit(committedNs: 1, version: 1)], coverages: [])
        #expect(integrator.staleness.mean == nil && integrator.versionLag.mean == nil)
    }

    @Test("Integration agrees with looking at every single nanosecond", arguments: seeds(50))
    func bruteForce(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let windowStart: Int64 = 200
        let windowEnd: Int64 = 1_700
        // Versions ascend. Commits may return out of order, and callbacks may precede the return or never come.
        var commits: [Commit] = []
        for version in 0..<Int64.random(in: 0...30, using: &random) {
            commits.append(
                Commit(committedNs: version * 60 + Int64.random(in: 0...150, using: &random), version: version + 1))
        }
        var coverages: [Coverage] = []
        var enterNs: Int64 = 0
        var version: Int64 = 0
        while enterNs < 1_900, version < 28 {
            enterNs += Int64.random(in: 1...120, using: &random)
            version += Int64.random(in: 0...3, using: &random)
            coverages.append(Coverage(enterNs: enterNs, version: version))
        }
        var integrator = StalenessIntegrator(startNs: windowStart, endNs: windowEnd)
        integrator.add(commits: commits, coverages: coverages)

        var ages = TimeWeightedHistogram()
        var lags = TimeWeightedHistogram()
        var ageSum = 0.0
        for nowNs in windowStart..<windowEnd {
            let covered = coverages.last { $0.enterNs <= nowNs }?.version ?? 0
            let open = commits.filter { $0.committedNs <= nowNs && $0.version > covered }
            let age = open.map { nowNs - $0.committedNs }.min(by: >) ?? 0
            ages.record(age, weightNs: 1)
            lags.record(Int64(open.count), weightNs: 1)
            // The age grows by one within the nanosecond, so its mean there is half a nanosecond more.
            ageSum += open.isEmpty ? 0 : Double(age) + 0.5
        }
        #expect(integrator.staleness.bucketedWeights() == ages.bucketedWeights())
        #expect(integrator.versionLag.bucketedWeights() == lags.bucketedWeights())
        #expect(integrator.versionLag.mean == lags.mean)
        #expect(abs((integrator.staleness.mean ?? 0) * 1_500 - ageSum) < 1e-6)
        for statistic in [Statistic.p50, .p90, .p99] {
            #expect(integrator.staleness.percentile(statistic) == ages.percentile(statistic))
        }
    }

    @Test("A ramp adds the same weight to each bucket as single steps", arguments: seeds(50))
    func ramps(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ramped = TimeWeightedHistogram()
        var stepped = TimeWeightedHistogram()
        for _ in 0..<8 {
            let from = Int64.random(in: 0...40_000, using: &random)
            let to = from + Int64.random(in: 0...20_000, using: &random)
            ramped.recordRamp(from: from, to: to)
            for value in from..<to { stepped.record(value, weightNs: 1) }
        }
        #expect(ramped.bucketedWeights() == stepped.bucketedWeights())
        #expect(ramped.totalNs == stepped.totalNs)
    }

    @Test("A ramp of a thousand seconds is placed right and at once")
    func longRamp() throws {
        var histogram = TimeWeightedHistogram()
        histogram.recordRamp(from: 0, to: 1_000_000_000_000)
        let p90 = try #require(histogram.percentile(.p90))
        #expect(p90 >= 899_999_999_999 && Double(p90) <= 9e11 * (1 + 1.0 / 1_024))
        #expect(histogram.mean == 5e11)
    }

    @Test("The buckets are those of HdrHistogram with three digits")
    func layout() {
        let reference = Histogram<UInt64>(
            highestTrackableValue: UInt64(Int64.max), numberOfSignificantValueDigits: .three)
        var values: [Int64] = Array(0...5_000) + [Int64.max]
        for shift in 12..<62 { values += [-1, 0, 1, 12_345].map { (1 << shift) + $0 } }
        for value in values {
            let bucket = TimeWeightedHistogram.bucket(of: value)
            let range = reference.equivalentRangeForValue(UInt64(value))
            #expect(TimeWeightedHistogram.lowerEdge(ofBucket: bucket) == Int64(range.lowerBound))
            #expect(TimeWeightedHistogram.upperEdge(ofBucket: bucket) == Int64(range.upperBound))
        }
    }

    @Test("Observers add up, and percentiles rest on the number of commits, not on time")
    func samples() throws {
        var integrator = StalenessIntegrator(startNs: 0, endNs: 1_000_000)
        let commits = (0..<500).map { Commit(committedNs: Int64($0) * 2_000, version: Int64($0) + 1) }
        let coverages = commits.map { Coverage(enterNs: $0.committedNs + 500, version: $0.version) }
        integrator.add(commits: commits, coverages: coverages)
        func p99(_ histogram: TimeWeightedHistogram) throws -> Figure {
            try #require(histogram.figures(for: .staleness).first { $0.statistic == .p99 })
        }
        #expect(try p99(integrator.staleness).value == nil)
        integrator.add(commits: commits, coverages: coverages)
        #expect(try p99(integrator.staleness).n == 1_000)
        #expect(try p99(integrator.staleness).value == 479)
        var other = StalenessIntegrator(startNs: 0, endNs: 1_000_000)
        other.add(commits: commits, coverages: coverages)
        var merged = other.staleness
        merged.add(other.staleness)
        #expect(merged.figures(for: .staleness) == integrator.staleness.figures(for: .staleness))
    }
}

extension BucketedWeights: Equatable {
    public static func == (left: BucketedWeights, right: BucketedWeights) -> Bool {
        left.buckets.elementsEqual(right.buckets, by: ==)
    }
}
