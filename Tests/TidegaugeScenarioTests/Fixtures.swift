// Helpers of the scenario tests.
import Foundation

@testable import TidegaugeScenario

let testDrivers = ["noop", "stillingwell"]

/// Drivers that shipped scenarios may name.
let shippedDrivers =
    testDrivers + ["grdb-pool", "grdb-memory", "sqlite-hooks", "notification-queue"]
    + ["typed-notifications", "fetched-results", "fetched-results-legacy", "postgres-poll", "postgres-notify"]
    + ["postgres-notify-rows", "postgres-batch-1ms", "postgres-batch-10ms", "postgres-batch-100ms", "postgres-wal"]
    + [
        "callback-under-lock", "waits-for-observers", "refresh-waits-for-turn", "cancel-waits", "called-under-registry",
        "reader-pool", "async-write-held", "lock-order", "foreign-locks", "answers-counted", "close-forgets-refresh",
        "workers-starve",
        "bounded-mailbox", "sync-on-own-queue",
    ].map { "flawed-\($0)" }

/// A small valid scenario.
let plainScenario = """
    purpose: How long does it take?
    represents: a complaint
    dataset: { items: 1_000 }
    observers: { count: 2 }
    writers: { rate: 200/s }
    measure: [delivery_latency, missed_final]
    gate: delivery_latency
    duration: 1s
    """

func parse(_ text: String, path: String = "test.yaml") throws(ScenarioErrors) -> Scenario {
    try Scenario.parse(Array(text.utf8), path: path, drivers: testDrivers)
}

/// Returns the complaints about `text`, one line per problem. Empty if it is valid.
func complaints(_ text: String, path: String = "test.yaml") -> [String] {
    complaints(Array(text.utf8), path: path)
}

func complaints(_ bytes: [UInt8], path: String = "test.yaml") -> [String] {
    do throws(ScenarioErrors) {
        _ = try Scenario.parse(bytes, path: path, drivers: testDrivers)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

/// The seed of a random test: `TIDEGAUGE_SEED`, or a random one. Include it in every expectation.
func testSeed() -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["TIDEGAUGE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    print("TIDEGAUGE_SEED=\(seed)")
    return seed
}
