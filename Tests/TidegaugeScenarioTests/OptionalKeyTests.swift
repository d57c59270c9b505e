// Tests of keys that a scenario may leave out.
import Testing

@testable import TidegaugeSpec

@Suite struct OptionalKeyTests {
    private static let bare = """
        purpose: How long does it take?
        dataset: { items: 1_000 }
        writers: { threads: 2, rate: 200/s }
        sweep: { dataset.items: [1_000, 2_000] }
        duration: 1s
        """

    @Test func aFileNeedsNeitherASourceNorAGate() throws {
        let scenario = try parse(Self.bare + "\nmeasure: [end_to_end_latency]")
        #expect(scenario.represents.isEmpty)
        #expect(scenario.gate == .endToEndLatency)
        #expect(!scenario.namesGate)
        #expect(try parse(plainScenario).namesGate)
    }

    @Test func answersAreQuestionsOfTheSummary() throws {
        let text = Self.bare + "\nmeasure: [end_to_end_latency, staleness]\nanswers: "
        #expect(try parse(text + "[latency, staleness]").answers == [.latency, .staleness])
        #expect(try parse(plainScenario).answers.isEmpty)
        #expect(
            complaints(text + "[speed]") == [
                "test.yaml:7:11: unknown question 'speed' (known here: latency, staleness, coalescing, upkeep, rate)"
            ])
    }

    /// Promises, figures of the harness or over a sweep, and figures without a direction are gates only if nothing else
    /// is measured.
    @Test(arguments: [
        ("missed_final, harness_hiccup, upkeep_exponent, coalescing_ratio, delivery_latency", Metric.deliveryLatency),
        ("missed_final, oracle_violations", .missedFinal),
    ])
    func theGateIsTheFirstThatTellsCommitsApart(measured: String, gate: Metric) throws {
        #expect(try parse(Self.bare + "\nmeasure: [\(measured)]").gate == gate)
    }
}
