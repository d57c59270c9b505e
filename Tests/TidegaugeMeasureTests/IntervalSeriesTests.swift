import StillingWellSeededRandom
import Testing

@testable import TidegaugeMeasure

@Suite("Figures over time")
struct IntervalSeriesTests {
    private let step = IntervalSeries.intervalNs

    @Test("Events count in the interval they fall into, and those outside the window nowhere")
    func events() {
        var series = IntervalSeries(startNs: 1_000, endNs: 1_000 + 2 * step + 10)
        for (atNs, value) in [(0, 9), (1_000, 4), (1_000 + step - 1, 6), (1_000 + 2 * step, 7), (1_010 + 2 * step, 9)] {
            series.add(atNs: Int64(atNs), value: Double(value))
        }
        #expect(series.means == [5, nil, 7] && series.maxima == [6, nil, 7])
        #expect(series.rates == [8, 0, 1e8] && series.wholeCount == 2)
    }

    @Test("A growing counter is cut at the ends of intervals and of the window")
    func ramps() {
        var series = IntervalSeries(startNs: 0, endNs: 2 * step)
        // Began before the window, with an age of `step` at its start. Ends in the middle of the second interval.
        series.add(fromNs: -step, untilNs: step + step / 2, value: 0, grows: true)
        series.add(fromNs: step + step / 2, untilNs: 9 * step, value: 0, grows: false)
        #expect(series.maxima == [Double(2 * step), Double(2 * step + step / 2)])
        #expect(series.means == [1.5 * Double(step), 2.25 * Double(step) / 2])
    }

    @Test("Staleness over time agrees with its distribution", arguments: seeds(50))
    func staleness(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var atNs: Int64 = 0
        let commits = (1...400).map { version in
            atNs += Int64.random(in: 1...9_000_000, using: &random)
            return StalenessIntegrator.Commit(committedNs: atNs, version: Int64(version))
        }
        let coverages = stride(from: 0, to: 380, by: 7).map { index in
            StalenessIntegrator.Coverage(
                enterNs: commits[index].committedNs + 2_000_000, version: Int64(index + 1))
        }
        let endNs = 8 * step
        var integrator = StalenessIntegrator(startNs: step / 3, endNs: step / 3 + endNs)
        integrator.add(commits: commits, coverages: coverages)
        let means = integrator.overTime.means.compactMap { $0 }
        #expect(means.count == 8)
        let mean = try #require(integrator.staleness.mean)
        #expect(abs(means.reduce(0, +) / 8 - mean) <= mean * 1e-9, "seed \(seed)")
        #expect(integrator.overTime.maxima.compactMap { $0 }.max() == integrator.staleness.max.map { Double($0) })
    }
}
