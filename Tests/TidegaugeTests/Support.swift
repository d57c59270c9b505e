// Helpers of the harness's tests: small specs, seeds that can be replayed, and trials run in this process.
import Foundation
import Testing
import TidegaugeDriver
import TidegaugeTrial
import TidegaugeTrialRunner

@testable import TidegaugeScenario
@testable import TidegaugeSpec

/// Returns random seeds for property tests, or only the seed of TIDEGAUGE_SEED.
func testSeeds(_ count: Int) -> [UInt64] {
    if let text = ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"], let seed = UInt64(text) { return [seed] }
    return (0..<count).map { _ in UInt64.random(in: 0 ... .max) }
}

extension TrialSpec {
    /// A spec of a tenth of a second on sixty rows.
    static func tiny(driver: String = "model", seed: UInt64 = 1) -> TrialSpec {
        TrialSpec(
            scenario: "tiny", scenarioSHA: "", driver: driver, variant: "", trial: 0, seed: seed, durability: "memory",
            dataset: DatasetSpec(items: 60),
            observers: ObserversSpec(
                count: 2, queries: .same, match: 0.5, sort: .scoreDescending, deliver: .runLoop, threads: 1,
                idleQueries: 1),
            writers: WritersSpec(
                threads: 2, load: .open, rateHz: 2_000, arrivals: .poisson, burst: 1,
                changes: ["update-score": 2, "touch": 2, "insert": 1, "delete": 1], rowsPerCommit: 2, keys: .uniform),
            measure: Metric.allCases.map(\.rawValue), warmUpNs: 20_000_000, durationNs: 100_000_000,
            hangTimeoutNs: 5_000_000_000)
    }
}

/// Returns the first trial of a shipped scenario in profile `smoke`. It has few rows, so that stores with full
/// evaluations keep up.
/// - Parameter path: relative to the folder of scenarios.
func shippedTrial(_ path: String, on driver: String, items: Int = 300) throws -> TrialSpec {
    let scenario = try shippedScenario(path, on: driver)
    var spec = try #require(try scenario.trials(profile: .smoke, drivers: [driver]).first)
    spec.durability = "memory"
    spec.dataset.items = items
    return spec
}

func shippedScenario(_ path: String, on driver: String) throws -> Scenario {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Scenarios/\(path)").standardizedFileURL
    return try #require(try ScenarioLibrary(drivers: [driver, "stillingwell"]).load([file.path]).first)
}

/// Runs a trial in this process, in a folder of its own.
func runTrial(_ spec: TrialSpec, on driver: any StoreDriver) throws -> TrialResult {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tidegauge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return Trial.run(spec, on: driver, storeDirectory: directory.path)
}

/// Runs a trial, and repeats it with twice the duration until `isEnough` returns true, because a busy machine may leave
/// it too few samples. Ends after a trial of more than a minute.
func runTrial(
    _ spec: TrialSpec, on driver: any StoreDriver, until isEnough: (TrialResult) -> Bool
) throws -> TrialResult {
    var spec = spec
    while true {
        let result = try runTrial(spec, on: driver)
        if isEnough(result) || spec.durationNs > 60_000_000_000 { return result }
        spec.durationNs *= 2
    }
}

extension TrialResult {
    func value(_ metric: Metric, _ statistic: String = "value") -> Double? {
        figures.first { $0.metric == metric && $0.statistic.rawValue == statistic }?.value
    }
}
