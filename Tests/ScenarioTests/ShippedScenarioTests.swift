// The scenario files of this repository: all of them valid, and within the time that a run may take.
import Foundation
import Testing

@testable import Scenario

/// The repository's folder of scenarios.
let shippedScenarios = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Scenarios").path

@Suite struct ShippedScenarioTests {
    private func load() throws -> [Scenario] {
        try ScenarioLibrary.load(paths: [shippedScenarios], drivers: shippedDrivers)
    }

    private func seconds(_ profile: Profile) throws -> Int64 {
        try load().flatMap { try $0.points(profile: profile) }.reduce(0) { $0 + $1.estimatedNs } / 1_000_000_000
    }

    @Test func allAreValid() throws {
        let names = Set(try load().map(\.name))
        #expect(names.isSuperset(of: ["commit-latency", "burst-coalesce", "result-size", "fan-out", "null-store"]))
    }

    /// Six minutes are promised; the estimate leaves a fifth for a slower machine.
    @Test func theCIProfileFitsItsBudget() throws { #expect(try seconds(.ci) <= 290) }

    @Test func theSmokeProfileFitsItsBudget() throws { #expect(try seconds(.smoke) <= 50) }

    @Test func everyPointOfASmokeRunIsMeasuredForASecondAtMost() throws {
        for scenario in try load() {
            for point in try scenario.points(profile: .smoke) {
                #expect(point.warmUpNs + point.durationNs <= 1_000_000_000, "\(scenario.name) \(point.variant)")
            }
        }
    }

    @Test func resultSizeAsksForWhatItPromises() throws {
        let scenario = try #require(try load().first { $0.name == "result-size" })
        #expect(scenario.represents == "realm-swift#6676")
        #expect(
            try scenario.points(profile: .ci).map(\.dataset.items) == [1_000, 10_000, 100_000, 1_000_000])
        #expect(
            scenario.limits.map(\.description) == [
                "upkeep_exponent.value <= 0.1", "upkeep_cost.value <= 50000 ns/commit at dataset.items=100000",
                "missed_final.value == 0 count",
            ])
    }

    @Test func theSpeedOfAStoreHasItsLimits() throws {
        let limits = try load().flatMap { scenario in scenario.limits.map { "\(scenario.name): \($0)" } }
        for promise in [
            "wake-up: delivery_over_floor.value <= 2.5", "bystanders: upkeep_growth.value <= 1.25",
            "hundred-queries: upkeep_cost.value <= 300000 ns/commit at observers.count=100;observers.queries=overlapping",
            "hundred-queries: upkeep_cost.value <= 1500000 ns/commit at observers.count=100;observers.queries=filters",
            "hundred-queries: observer_cpu.value <= 10000 ns/commit at observers.count=1",
            "observer-stall: observer_stall.p99 < 1000000 ns at observers.calls=begin-write",
            "bulk-write: object_rate.value >= 500000 objects/s at writers.change=update-score",
            "bulk-write: object_rate.value >= 1000000 objects/s at dataset.keys=ascending;writers.change=insert",
            "bulk-write: object_rate.value >= 300000 objects/s at dataset.keys=uuid;writers.change=insert",
            "initial-delivery: time_to_first_delivery.mean <= 50000000 ns at observers.sort=-score",
            "initial-delivery: time_to_first_delivery.mean <= 10000000 ns at observers.sort=none",
            "many-writers: writer_share_min.value >= 0.9",
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

    @Test func bystandersWatchWhatIsThereAtEveryPoint() throws {
        let scenario = try #require(try load().first { $0.name == "bystanders" })
        for profile in Profile.allCases {
            let points = try scenario.points(profile: profile)
            #expect(points.first?.observers.bystanders == 1)
            #expect(Set(points.map(\.dataset.groups)) == [points.last?.observers.bystanders])
        }
    }

    @Test func fanOutMeasuresAPointOfTwoFamiliesOnce() throws {
        let scenario = try #require(try load().first { $0.name == "fan-out" })
        let points = try scenario.points(profile: .ci)
        #expect(points.count == 5 + 3 + 3)
        #expect(points[1].variant == "observers.bystanders=0;observers.count=1;observers.queries=same")
        #expect(points.last?.variant == "observers.bystanders=1000;observers.count=1;observers.queries=same")
    }
}
