import Testing
import TidegaugeHarnessFixtures

@testable import TidegaugeRun
@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

@Suite("Providers of metrics")
struct ProviderTests {
    private static let sweeps = Set(SweepFigures.providers.keys)

    @Test("Every metric has one provider, where its entry says", arguments: Metric.allCases)
    func provider(metric: Metric) {
        var sources: [MetricEntry.Source] = []
        if TrialProvider.all[metric] != nil { sources.append(.trial) }
        sources += GroupFigures.providers.filter { $0.key == metric }.map { _ in .companions }
        if PeerFigures.providers[metric] != nil { sources.append(.peers) }
        if Self.sweeps.contains(metric) { sources.append(.sweep(over: metric.neededSweep)) }
        sources += InterleavingTrial.Verdict.providers.filter { $0.key == metric }.map { _ in .interleavingTest }
        #expect(sources == [metric.entry.source], "\(metric.rawValue) has not the one provider of its source")
    }

    @Test("Every setting that a sweep may vary has an axis", arguments: Metric.allCases.filter(\.isOverSweep))
    func axes(metric: Metric) {
        #expect(!metric.neededSweep.isEmpty && metric.neededSweep.allSatisfy { SweepFigures.axes[$0] != nil })
    }

    @Test(
        "Limits may name the statistics that a provider makes, and no others", arguments: Array(TrialProvider.all.keys))
    func statistics(metric: Metric) throws {
        let known = metric.statistics
        switch try #require(TrialProvider.all[metric]) {
        case .events: #expect(known.contains(.p50) && !known.contains(.slope) && !known.contains(.value))
        case .overTime: #expect(known.contains(.p50) && known.contains(.slope) && !known.contains(.value))
        case .number: #expect(known == [.value])
        case .held: #expect(known == [.max, .value, .slope])
        case .figures: break
        }
        #expect(known.contains { $0.rawValue == metric.defaultStatistic })
    }

    @Test("Every figure of a trial has a statistic that its metric is said to have")
    func statisticsOfATrial() throws {
        let result = try runTrial(.tiny(), on: ModelDriver())
        #expect(result.figures.count > 50)
        for figure in result.figures {
            #expect(figure.metric.statistics.contains(figure.statistic), "\(figure.metric) \(figure.statistic)")
        }
    }

    @Test("A trial computes what its figures are computed from", arguments: Metric.allCases)
    func parts(metric: Metric) {
        var spec = TrialSpec.tiny()
        spec.measure = [metric.rawValue]
        #expect(spec.neededMetrics.isSuperset(of: [metric] + metric.entry.takes))
        #expect(metric.entry.takes.allSatisfy { [.trial, .companions].contains($0.entry.source) })
    }
}
