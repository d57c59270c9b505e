// Tests of limits of which a run has no figure: they are unknown with a reason.
import Testing
import TidegaugeMeasure
import TidegaugeTrial

@testable import TidegaugeRun
@testable import TidegaugeSpec

@Suite struct LimitWithoutFigureTests {
    private func spec(_ metric: Metric, driver: String = "model") -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver)
        (spec.measure, spec.variant) = ([metric.rawValue], "dataset.items=60")
        return spec
    }

    private func judged(_ metric: Metric, _ change: (inout TrialSpec) -> Void = { _ in }) -> [String] {
        var spec = self.spec(metric)
        change(&spec)
        let check = LimitCheck(scenario: "tiny", limits: [Limit(metric, .less, 5)], entries: [], trials: [spec])
        #expect(check.judgements().allSatisfy { $0.verdict == .unknown && $0.held?.value == nil })
        return check.judgements().map(\.text)
    }

    @Test func aLimitWithoutAFigureIsUnknownWithItsReason() {
        #expect(
            judged(.endToEndLatency) { $0.writers.load = .closed } == [
                "model: end_to_end_latency.p50 < 5 ns: no figure: a load without a schedule has none (write 'load: open', or "
                    + "remove the limit)"
            ])
        #expect(
            judged(.upkeepExponent) == [
                "model: upkeep_exponent.value < 5: no figure: it needs a sweep with two or more values of 'dataset.items'"
            ])
        #expect(
            judged(.staleness) { $0.observers.count = 0 } == [
                "model: staleness.p50 < 5 ns: no figure: 'observers.count' is 0"
            ])
        #expect(judged(.fileBytes) == ["model: file_bytes.value < 5 bytes: no figure: model does not measure it"])
        // A metric that the trials were not asked for, and one that is reported only if there is something to report.
        #expect(judged(.fileBytes) { $0.measure = [] }.isEmpty && judged(.voidedTrials).isEmpty)
    }

    /// Any driver may have a counter, so a limit on it is without a figure only if none has.
    @Test func aCounterThatNoEngineHasIsUnknown() throws {
        let counter = try #require(Metric(rawValue: "engine.rows_read"))
        let specs = ["model", "dict"].map { spec(counter, driver: $0) }
        var check = LimitCheck(
            scenario: "tiny", limits: [Limit(counter, .less, 5)], entries: [], trials: specs, unjudged: ["dict"])
        #expect(check.judgements().map(\.driver) == ["dict", "model"])
        #expect(check.judgements().allSatisfy { $0.verdict == .unknown })
        check = LimitCheck(
            scenario: "tiny", limits: [Limit(counter, .less, 5)],
            entries: [.init(driver: "dict", variant: "", figure: Figure(counter, .value, 1, n: 1))], trials: specs,
            unjudged: ["dict"])
        #expect(check.judgements().map(\.verdict) == [.kept])
        check = LimitCheck(
            scenario: "tiny", limits: [Limit(.fileBytes, .less, 5)], entries: [],
            trials: [spec(.fileBytes, driver: "dict")], unjudged: ["dict"])
        #expect(check.judgements().isEmpty)
    }
}
