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
        try ScenarioLibrary.load(paths: [shippedScenarios], drivers: testDrivers)
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
                "upkeep_exponent.value < 0.2", "upkeep_cost.value <= 50000 ns/commit at dataset.items=100000",
                "missed_final.value == 0 count",
            ])
    }

    @Test func fanOutMeasuresAPointOfTwoFamiliesOnce() throws {
        let scenario = try #require(try load().first { $0.name == "fan-out" })
        let points = try scenario.points(profile: .ci)
        #expect(points.count == 5 + 3 + 3)
        #expect(points[1].variant == "observers.bystanders=0;observers.count=1;observers.queries=same")
        #expect(points.last?.variant == "observers.bystanders=1000;observers.count=1;observers.queries=same")
    }
}
