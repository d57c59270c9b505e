// Tests of warnings and errors about limits for which trials have too few samples.
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct SampleTests {
    private func found(_ limits: String, _ replacements: (String, String)..., profile: Profile = .ci) throws -> [String]
    {
        let file = """
            purpose: How long does it take?
            dataset: { items: 1_000 }
            observers: { count: 1 }
            writers: { rate: 30/s }
            measure: [end_to_end_latency, write_service_time, time_to_first_delivery, upkeep_cost, harness_hiccup]
            duration: 5s
            limits: { \(limits) }
            profiles: { full: { duration: 10_000s, observers: { count: 20 } } }
            """
        let text = replacements.reduce(file) { $0.replacing($1.0, with: $1.1) }
        return try parse(text).limitsWithoutSamples(in: profile).map(\.description)
    }

    @Test func aPercentileOfTooFewCommitsIsNamedWithItsPlaceAndTheRemedy() throws {
        #expect(
            try found(#"write_service_time.p99: "< 5ms""#) == [
                "test.yaml:7:35: 'write_service_time.p99' cannot be judged in the profile 'ci': about 150 samples a trial, "
                    + "and p99 needs 1,000: duration ≥ 34s"
            ])
        #expect(
            try found(#"end_to_end_latency.p99_9: "< 5ms""#, ("count: 1 ", "count: 4 "))[0].hasSuffix(
                "about 450 samples a trial, and p99_9 needs 10,000: duration ≥ 112s"))
    }

    @Test func whatHasEnoughIsNotMentioned() throws {
        #expect(try found(#"write_service_time: "< 5ms", write_service_time.p90: "< 9ms""#).isEmpty)
        #expect(try found(#"write_service_time.max: "< 5ms", write_service_time.mean: "< 5ms""#).isEmpty)
        #expect(try found(#"upkeep_cost: "< 5ms""#).isEmpty)
        #expect(try found(#"write_service_time.p99: "< 5ms""#, ("5s", "34s")).isEmpty)
    }

    @Test func nothingIsSaidWhereTheNumberIsNotKnown() throws {
        #expect(try found(#"write_service_time.p99: "< 5ms""#, ("rate: 30/s", "load: closed")).isEmpty)
        #expect(try found(#"harness_hiccup.p99_99: "< 5ms""#).isEmpty)
        #expect(try found(#"write_service_time.p99: "< 5ms""#, profile: .smoke).isEmpty)
    }

    @Test func firstDeliveriesAreAsManyAsObservers() throws {
        #expect(
            try found(#"time_to_first_delivery: "< 5ms""#)[0].hasSuffix(
                "about 1 sample a trial, and p50 needs 20: observers.count ≥ 20"))
        #expect(try found(#"time_to_first_delivery: "< 5ms""#, ("count: 1 ", "count: 20 ")).isEmpty)
    }

    /// The point with the fewest samples is named. Points that a limit does not apply to are ignored.
    @Test func everyPointIsLookedAt() throws {
        let sweep = ("duration: 5s", "duration: 5s\nsweep: { writers.rate: [400/s, 100/s, 40/s] }")
        #expect(
            try found(#"write_service_time.p99: "< 5ms""#, sweep)[0].contains(
                "'ci' at writers.rate=40/s: about 200 samples a trial, and p99 needs 1,000: duration ≥ 25s"))
        #expect(try found(#"write_service_time.p99: { at: { writers.rate: 400/s }, limit: "< 5ms" }"#, sweep).isEmpty)
    }

    /// Neither `ci` nor `full` has enough samples: an error of the scenario, at the place of the limit.
    @Test func aLimitThatNoProfileCanJudgeIsAnError() throws {
        let file = """
            purpose: How long does it take?
            dataset: { items: 1_000 }
            observers: { count: 2 }
            writers: { rate: 30/s }
            measure: [end_to_end_latency, write_service_time]
            duration: 5s
            limits:
              write_service_time.p99: "< 5ms"
              end_to_end_latency.p99: "< 5ms"

            """
        let complaint = "can be judged neither in the profile 'ci' nor in 'full': about"
        let both = complaints(file)
        #expect(
            both.count == 2 && both[0].hasPrefix("test.yaml:8:27: 'write_service_time.p99' \(complaint) 150 samples"))
        #expect(both[0].hasSuffix("needs 1,000: duration ≥ 34s"), "\(both)")
        #expect(complaints(file + "profiles: { full: { duration: 34s } }").isEmpty)
        #expect(complaints(file + "profiles: { smoke: { duration: 34s } }").count == 2)
        // One point of one profile is enough. A load with an unknown number of commits is accepted too.
        #expect(complaints(file + "profiles: { full: { sweep: { writers.rate: [30/s, 300/s] } } }").isEmpty)
        #expect(complaints(file.replacing("rate: 30/s", with: "load: closed")).isEmpty)
        // A thousand Poisson arrivals may occur by chance if 960 are expected.
        let random = file.replacing("rate: 30/s", with: "rate: 192/s, arrivals: poisson")
        #expect(complaints(random).isEmpty)
    }

    @Test(arguments: [
        ("touch", "0.2", 167), ("touch", "1", 34), ("{ update: score }", "0.2", 93),
        ("{ touch: 1, insert: 1 }", "0.2", 167),
    ])
    func commitsThatConcernNobodyAreNoDeliveries(change: String, match: String, seconds: Int) throws {
        let found = try found(
            #"end_to_end_latency.p99: "< 5ms""#, ("count: 1 ", "count: 1, match: \(match) "),
            ("rate: 30/s", "rate: 30/s, change: \(change)"))
        #expect(found[0].hasSuffix("duration ≥ \(seconds)s"), "\(found)")
    }

    /// The first scenario for new users. Three standard deviations below the mean suffice for p99.
    @Test(arguments: [Profile.ci, .full]) func commitLatencyHasAPercentileOfItsTail(profile: Profile) throws {
        let all = try ScenarioLibrary(drivers: shippedDrivers).load([shippedScenarios + "/latency/commit-latency.yaml"])
        for point in try all[0].settings(profile, [:]) {
            let count = try #require(all[0].expected(.deliveries, at: point.settings))
            #expect(
                count - 3 * count.squareRoot() >= Double(Statistic.p99.neededSamples!), "\(point.variant): \(count)")
        }
    }

    @Test func shippedScenariosAskForNothingThatTheyCannotHave() throws {
        for scenario in try ScenarioLibrary(drivers: shippedDrivers).load([shippedScenarios]) {
            for profile in Profile.allCases {
                let found = scenario.limitsWithoutSamples(in: profile)
                #expect(found.isEmpty, "\(found.map(\.description).joined(separator: "\n"))")
            }
        }
    }
}
