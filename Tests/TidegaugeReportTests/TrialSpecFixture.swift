@testable import TidegaugeSpec

enum TrialSpecFixture {
    static var spec: TrialSpec {
        TrialSpec(
            scenario: "fan-out", scenarioSHA: "cafe", driver: "stillingwell", variant: "observers.count=10", trial: 3,
            seed: 99, durability: "full", dataset: DatasetSpec(items: 10),
            observers: ObserversSpec(
                count: 10, queries: .same, match: 0.5, sort: .none, deliver: .queue, threads: 1, idleQueries: 0),
            writers: WritersSpec(
                threads: 1, load: .open, rateHz: 10, arrivals: .uniform, burst: 1, changes: ["touch": 1],
                rowsPerCommit: 1, keys: .uniform),
            measure: ["lock_wait"], warmUpNs: 0, durationNs: 1, hangTimeoutNs: 1)
    }
}
