// Tests of limits.
import Foundation
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct LimitTests {
    private func limits(_ text: String) throws -> [Limit] {
        let file = """
            purpose: How long does it take?
            represents: a complaint
            dataset: { items: 1_000 }
            writers: { rate: 200/s }
            sweep: { dataset.items: [1_000, 2_000], server.standby: [0s, 100us] }
            measure: [delivery_latency, upkeep_cost, upkeep_exponent, achieved_rate, missed_final]
            gate: delivery_latency
            duration: 1s
            limits: \(text)
            profiles: { full: { duration: 1000s } }
            """
        return try parse(file).limits
    }

    @Test func readsComparisonsAndUnits() throws {
        #expect(try limits(#"{ upkeep_exponent: "< 0.2" }"#) == [Limit(.upkeepExponent, .less, 0.2)])
        #expect(try limits(#"{ upkeep_cost: "<= 50us" }"#) == [Limit(.upkeepCost, .lessOrEqual, 50_000)])
        #expect(try limits(#"{ achieved_rate: ">=190/s" }"#) == [Limit(.achievedRate, .greaterOrEqual, 190)])
        #expect(try limits(#"{ achieved_rate: "> 190" }"#) == [Limit(.achievedRate, .greater, 190)])
        #expect(try limits(#"{ missed_final: == 0 }"#) == [Limit(.missedFinal, .equal, 0)])
    }

    @Test func theStatisticIsTheMedianOfADistributionAndTheValueOfANumber() throws {
        #expect(try limits(#"{ delivery_latency: "< 1ms" }"#).map(\.statistic) == ["p50"])
        #expect(try limits(#"{ upkeep_cost: "< 1ms" }"#).map(\.statistic) == ["value"])
        #expect(try limits(#"{ delivery_latency.p99_9: "< 1ms" }"#).map(\.statistic) == ["p99_9"])
    }

    /// `measure` need not name the counter, and the dot in its name does not begin a statistic.
    @Test func mayBeOnACounterOfTheEngine() throws {
        let rows = Metric.engine(counter: "rows_read")
        #expect(try limits(#"{ engine.rows_read: "<= 20" }"#) == [Limit(rows, .lessOrEqual, 20)])
        #expect(try limits(#"{ engine.rows_read.value: "<= 20" }"#) == [Limit(rows, .lessOrEqual, 20)])
        let exponent = Metric.engineExponent(counter: "rows_read")
        #expect(try limits(#"{ engine_exponent.rows_read: "< 0.2" }"#) == [Limit(exponent, .less, 0.2)])
        #expect(throws: ScenarioErrors.self) { try limits(#"{ engine.Rows: "< 1" }"#) }
        #expect(throws: ScenarioErrors.self) { try limits(#"{ engine.rows_read.sum: "< 1" }"#) }
    }

    @Test func aNumberOfSamplesHasNoUnit() throws {
        let limit = try #require(try limits(#"{ delivery_latency.count: ">= 10" }"#).first)
        #expect(limit == Limit(.deliveryLatency, statistic: "count", .greaterOrEqual, 10))
        #expect(limit.description == "delivery_latency.count >= 10")
        #expect(limit.text(digits: 3) == "delivery_latency.count >= 10")
        #expect(
            refusals(#"{ delivery_latency.count: ">= 10us", staleness.count: ">= 4 raw_commit" }"#) == [
                "test.yaml:9:35: the limit on 'delivery_latency.count' expects a number such as 0.5, found '10us'",
                "test.yaml:9:63: the limit on 'staleness.count' compares with the time of raw_commit, and "
                    + "'staleness.count' is no time and no rate",
            ])
    }

    @Test func mayHoldAtOnePointOfASweep() throws {
        let limit = try #require(
            try limits(#"{ upkeep_cost: { at: { dataset.items: 2_000, server.standby: 0.1ms }, limit: "<= 50us" } }"#)
                .first)
        #expect(limit.at == ["dataset.items": "2000", "server.standby": "100us"])
        #expect(limit.applies(to: "dataset.items=2000;server.standby=100us"))
        #expect(!limit.applies(to: "dataset.items=20000;server.standby=100us"))
        #expect(!limit.applies(to: "*"))
        #expect(limit.description == "upkeep_cost.value <= 50000 ns/commit at dataset.items=2000;server.standby=100us")
    }

    @Test func severalLimitsOnOneMetricComeAsAList() throws {
        let text = #"{ upkeep_cost: [ "<= 1ms", { at: { dataset.items: 1_000 }, limit: "<= 50us" } ] }"#
        #expect(try limits(text).map(\.bound) == [1_000_000, 50_000])
    }

    @Test func withoutAPlaceItMeansEveryPoint() {
        #expect(Limit(.upkeepExponent, .less, 0.2).applies(to: "*"))
        #expect(Limit(.missedFinal, .equal, 0).applies(to: "dataset.items=1000"))
        #expect(Limit(.missedFinal, .equal, 0).applies(to: ""))
    }

    @Test(arguments: [
        (Limit.Comparison.less, [true, false, false]), (.lessOrEqual, [true, true, false]),
        (.equal, [false, true, false]), (.greaterOrEqual, [false, true, true]), (.greater, [false, false, true]),
    ])
    func holds(_ comparison: Limit.Comparison, _ expected: [Bool]) {
        let limit = Limit(.upkeepCost, comparison, 2)
        #expect([1, 2, 3].map { limit.holds(for: $0) } == expected)
        #expect(!limit.holds(for: .nan))
    }

    private func refusals(_ limits: String) -> [String] {
        complaints(
            plainScenario.replacing(
                "[delivery_latency, missed_final]", with: "[delivery_latency, missed_final, staleness]")
                + "\nlimits: \(limits)")
    }

    /// No figure of a run would ever be compared with such a limit, so that it could not be broken.
    @Test func aStatisticThatAMetricDoesNotHaveIsRefused() {
        #expect(
            refusals(#"{ missed_final.p50: "== 0", delivery_latency.slope: "< 5ms", staleness.value: "< 5ms" }"#) == [
                "test.yaml:9:11: 'missed_final' has no p50 (it has: value)",
                "test.yaml:9:37: 'delivery_latency' has no slope (it has: p50, p90, p99, p99_9, p99_99, min, max, mean, count)",
                "test.yaml:9:70: 'staleness' has no value (it has: p50, p90, p99, p99_9, p99_99, min, max, mean, count, "
                    + "slope)",
            ])
        #expect(refusals(#"{ missed_final.value: "== 0", staleness.slope: "< 1ms" }"#).isEmpty)
    }

    @Test func anOperatorAndAUnitThatDoNotExistAreNamed() {
        #expect(
            refusals(#"{ delivery_latency: "<> 50ms" }"#) == [
                "test.yaml:9:29: the limit on 'delivery_latency' has the unknown operator '<>' (one of < <= > >= ==)"
            ])
        #expect(
            refusals(#"{ delivery_latency: "<= 150 raw_comit" }"#) == [
                "test.yaml:9:29: the limit on 'delivery_latency' has the unknown unit 'raw_comit' (did you mean 'raw_commit'?)"
            ])
    }

    @Test func aStatisticUnderMeasureIsNamedAndAnAnswerNeedsItsMetric() {
        let text = plainScenario.replacing("missed_final]", with: "delivery_latency.p99]") + "\nanswers: [latency]"
        #expect(
            complaints(text) == [
                "test.yaml:6:29: unknown metric 'delivery_latency.p99' (write 'delivery_latency'; its statistics come with it)",
                "test.yaml:9:10: 'answers: [latency]' requires 'end_to_end_latency' (add it to 'measure', or remove the answer)",
            ])
    }

    @Test func aReplacedSweepIsNamedWithTheLimitsThatItTakesAway() throws {
        let text = #"{ upkeep_cost: [ "<= 1ms", { at: { dataset.items: 1_000 }, limit: "<= 50us" } ] }"#
        let scenario = try parse(
            plainScenario.replacing("[delivery_latency, missed_final]", with: "[delivery_latency, upkeep_cost]")
                + "\nsweep: { dataset.items: [1_000, 2_000] }\nlimits: \(text)")
        #expect(
            scenario.replacedSweeps(in: .ci, overrides: ["dataset.items": "5000", "duration": "2s"]).map(\.description)
                == [
                    "--set dataset.items: 'dataset.items' is swept by test: the sweep over it is replaced by 5000; not judged: "
                        + "upkeep_cost.value <= 50.0 µs at dataset.items=1000"
                ])
        #expect(
            scenario.replacedSweeps(in: .ci, overrides: ["dataset.items": "1000"]).map(\.description) == [
                "--set dataset.items: 'dataset.items' is swept by test: the sweep over it is replaced by 1000"
            ])
        #expect(scenario.replacedSweeps(in: .ci, overrides: ["duration": "2s"]).isEmpty)
    }

    @Test func aFaultOutsideTheWindowOfAProfileNamesTheProfile() {
        let text =
            plainScenario
            + "\nfault: { kind: stall, at: 500ms, length: 100ms }\nprofiles: { smoke: { duration: 200ms } }"
        #expect(
            complaints(text) == [
                "test.yaml:10:32: the fault ends after the measured window, which is 200ms long in the profile 'smoke' (an "
                    + "earlier 'fault.at', or a longer 'duration')"
            ])
    }

    @Test func survivesJSON() throws {
        let limit = Limit(.upkeepCost, .lessOrEqual, 50_000, at: ["dataset.items": "100000"])
        #expect(try JSONDecoder().decode(Limit.self, from: JSONEncoder().encode(limit)) == limit)
    }
}
