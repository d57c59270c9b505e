// Tests of the scenario files of this repository.
import Foundation
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

/// The repository's folder of scenarios.
let shippedScenarios = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Scenarios").path

@Suite struct ShippedScenarioTests {
    private func load() throws -> [Scenario] {
        try ScenarioLibrary(drivers: shippedDrivers).load([shippedScenarios])
    }

    /// The scenarios except those of reading and of servers. Scenarios of reading (`make reading`) count instructions,
    /// which takes seconds each. Scenarios of servers (`make servers`) need a server.
    private func loadWithoutReading() throws -> [Scenario] {
        try load().filter { !$0.path.contains("/reading/") && !$0.path.contains("/servers/") }
    }

    /// Estimated seconds of each scenario, longest first.
    private func seconds(_ profile: Profile, in scenarios: [Scenario]) throws -> [(name: String, seconds: Double)] {
        let each = try scenarios.map { scenario in
            let timesNs = try scenario.points(profile: profile).map { estimatedNs($0, of: scenario) }
            let steps = try Int64(scenario.searchSteps(profile: profile)) * (timesNs.max() ?? 0)
            return (name: scenario.name, seconds: Double(timesNs.reduce(steps, +)) / 1e9)
        }
        return each.sorted { $0.seconds > $1.seconds }
    }

    /// Estimated time of all trials at a point on one driver, in sequence, with loading and the trials of baselines.
    private func estimatedNs(_ point: SweepPoint, of scenario: Scenario) -> Int64 {
        let (spec, measure) = (point.spec, scenario.measure)
        let hasBaseline = spec.observers.count > 0 && measure.contains(where: \.needsBaseline)
        let processes = 1 + (hasBaseline ? 1 : 0) + (measure.contains(where: \.needsNoop) ? 1 : 0)
        // Start of a process, opening, quiescence, the oracle's comparison and writing of results. An interleaving test
        // ends with its threads, or when a deadlock was observed for long enough.
        let processNs: Int64 = spec.interleaving == nil ? 400_000_000 : 150_000_000
        // Inserting a row in bulk, and evaluating the first result from it.
        let loadNs = Int64(spec.dataset.items + 10 * spec.dataset.groups) * 2_000
        let subscribeNs = Int64(spec.observers.count + spec.observers.idleQueries) * 100_000
        // Counted under valgrind, once for all repetitions.
        let isCounted = measure.contains(where: \.isOfCountedTrial)
        let countedNs: Int64 = isCounted ? 5_000_000_000 + 100 * (loadNs + subscribeNs / 10) : 0
        let trialNs = processNs + loadNs + subscribeNs + spec.warmUpNs + spec.durationNs
        return trialNs * Int64(processes * point.repetitions) + countedNs
    }

    @Test func allAreValid() throws {
        let names = Set(try load().map(\.name))
        #expect(names.isSuperset(of: ["commit-latency", "burst-coalesce", "result-size", "fan-out", "noop-store"]))
    }

    /// README.md states 10 to 15 minutes for `make bench`. Five of them may be for the scenarios.
    @Test func theCIProfileFitsItsBudget() throws {
        let each = try seconds(.ci, in: loadWithoutReading().filter { !$0.path.contains("/peers/") })
        #expect(each.reduce(0) { $0 + $1.seconds } <= 300, "\(each)")
    }

    /// The scenarios of servers, on all of their drivers, take eight minutes at most.
    @Test func theServersFitTheirBudget() throws {
        let each = try load().filter { $0.path.contains("/servers/") }.map { scenario in
            let seconds = try seconds(.ci, in: [scenario]).reduce(0) { $0 + $1.seconds }
            // Each trial creates a database cluster.
            let trials = try scenario.points(profile: .ci).reduce(0) { $0 + $1.repetitions }
            return (scenario.name, Double(scenario.drivers.count) * (seconds + Double(3 * trials)))
        }
        #expect(each.reduce(0) { $0 + $1.1 } <= 480, "\(each)")
    }

    /// `make smoke` promises two minutes.
    @Test func theSmokeProfileFitsItsBudget() throws {
        let each = try seconds(.smoke, in: loadWithoutReading())
        #expect(each.reduce(0) { $0 + $1.seconds } <= 96, "\(each)")
    }

    @Test func everyPointOfASmokeRunIsMeasuredForASecondAtMost() throws {
        for scenario in try load() {
            for point in try scenario.points(profile: .smoke) {
                #expect(
                    point.spec.warmUpNs + point.spec.durationNs <= 1_000_000_000, "\(scenario.name) \(point.variant)")
            }
        }
    }

    @Test func resultSizeAsksForWhatItPromises() throws {
        let scenario = try #require(try load().first { $0.name == "result-size" })
        #expect(scenario.represents == "realm-swift#6676")
        #expect(
            try scenario.points(profile: .ci).map(\.spec.dataset.items) == [1_000, 10_000, 100_000, 1_000_000])
        #expect(
            scenario.limits.map(\.description) == [
                "upkeep_exponent.value <= 0.1", "upkeep_cost.value <= 12 raw_commit at dataset.items=100000",
                "missed_final.value == 0 count",
            ])
    }

    @Test func theSpeedOfAStoreHasItsLimits() throws {
        let limits = try load().flatMap { scenario in scenario.limits.map { "\(scenario.name): \($0)" } }
        for promise in [
            "wake-up: delivery_over_floor.value <= 10", "idle-queries: upkeep_growth.value <= 4",
            "hundred-queries: upkeep_cost.value <= 150 raw_commit at observers.count=100;observers.queries=overlapping",
            "hundred-queries: upkeep_cost.value <= 900 raw_commit at observers.count=100;observers.queries=filters",
            "hundred-queries: observer_cpu.value <= 7 raw_commit at observers.count=1",
            "observer-stall: observer_stall.p99 < 200 raw_commit at observers.calls=begin-write",
            "instructions: upkeep_instructions.value <= 29700 instructions/commit at "
                + "dataset.items=10000;observers.count=1",
            "instructions: upkeep_reads.value <= 4.1 reads/commit",
            "bulk-write: object_rate.value >= 1.5 per raw_commit at writers.change=update-score",
            "bulk-write: object_rate.value >= 3 per raw_commit at dataset.keys=ascending;writers.change=insert",
            "bulk-write: object_rate.value >= 0.9 per raw_commit at dataset.keys=uuid;writers.change=insert",
            "initial-delivery: time_to_first_delivery.mean <= 1500 memory_walk at observers.sort=-score",
            "initial-delivery: time_to_first_delivery.mean <= 800 memory_walk at observers.sort=none",
            "many-writers: writer_share_min.value >= 0.25",
            "observed-writes: achieved_rate.value >= 9500 commits/s at writers.load=open",
            "observed-writes: observed_rate_ratio.value >= 0.5 at writers.load=closed",
            "side-by-side: upkeep_ratio.value >= 1000 at "
                + "dataset.items=100000;observers.count=100;observers.queries=overlapping",
            "side-by-side: upkeep_ratio.value >= 400 at "
                + "dataset.items=100000;observers.count=100;observers.queries=filters",
        ] {
            #expect(limits.contains(promise), "\(promise)")
        }
    }

    @Test func idleQueriesWatchWhatIsThereAtEveryPoint() throws {
        let scenario = try #require(try load().first { $0.name == "idle-queries" })
        for profile in Profile.allCases {
            let points = try scenario.points(profile: profile)
            #expect(points.first?.spec.observers.idleQueries == 1)
            #expect(Set(points.map(\.spec.dataset.groups)) == [points.last?.spec.observers.idleQueries])
        }
    }

    @Test func fanOutMeasuresAPointOfTwoFamiliesOnce() throws {
        let scenario = try #require(try load().first { $0.name == "fan-out" })
        let points = try scenario.points(profile: .ci)
        #expect(points.count == 4 + 2 + 2)
        #expect(points[1].variant == "observers.count=1;observers.idle_queries=0;observers.queries=same")
        #expect(points.last?.variant == "observers.count=1;observers.idle_queries=1000;observers.queries=same")
    }
}
