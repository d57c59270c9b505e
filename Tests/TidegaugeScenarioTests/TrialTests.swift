// Tests of the trials of a scenario: layers, sweeps, overrides, seeds.
import StillingWellBasis
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct TrialTests {
    private func trials(
        _ text: String, _ profile: Profile = .ci, seed: UInt64? = nil, overrides: [String: String] = [:]
    ) throws -> [TrialSpec] {
        try parse(text).trials(profile: profile, drivers: testDrivers, seed: seed, overrides: overrides)
    }

    private func complaints(overriding overrides: [String: String]) -> [String] {
        do throws(ScenarioErrors) {
            _ = try parse(plainScenario).trials(profile: .ci, drivers: testDrivers, overrides: overrides)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func everythingUnsaidHasADefault() throws {
        let spec = try #require(try trials(plainScenario).first)
        #expect(
            spec.observers
                == ObserversSpec(
                    count: 2, queries: .same, match: 0.5, sort: .scoreDescending, deliver: .runLoop, threads: 1,
                    idleQueries: 0))
        #expect(
            spec.writers
                == WritersSpec(
                    threads: 1, load: .open, rateHz: 200, arrivals: .uniform, burst: 1, changes: ["update-score": 1],
                    rowsPerCommit: 1, keys: .uniform))
        #expect(spec.scenario == "test" && spec.variant == "" && spec.durability == "memory")
        #expect(spec.warmUpNs == 500_000_000 && spec.durationNs == 1_000_000_000)
        #expect(spec.hangTimeoutNs == 5_000_000_000)
        #expect(spec.measure == ["delivery_latency", "missed_final"])
        #expect(spec.scenarioSHA == SHA256.hexadecimal(Array(plainScenario.utf8)))
    }

    @Test func aSweepIsACartesianProduct() throws {
        let text = plainScenario + "\nsweep: { observers.count: [1, 10], dataset.items: [1_000, 1e4, 100_000] }"
        let variants = try parse(text).points(profile: .ci).map(\.variant)
        #expect(
            variants == [
                "dataset.items=1000;observers.count=1", "dataset.items=10000;observers.count=1",
                "dataset.items=100000;observers.count=1", "dataset.items=1000;observers.count=10",
                "dataset.items=10000;observers.count=10", "dataset.items=100000;observers.count=10",
            ])
    }

    @Test func aListOfSweepsIsTheirUnionWithoutDuplicates() throws {
        let text =
            plainScenario + """

                sweep:
                  - { observers.count: [1, 2], writers.change: [touch, { update: score }] }
                  - { observers.count: [2, 3] }
                """
        let points = try parse(text).points(profile: .ci)
        #expect(
            points.map(\.variant) == [
                "observers.count=1;writers.change=touch", "observers.count=1;writers.change=update-score",
                "observers.count=2;writers.change=touch", "observers.count=2;writers.change=update-score",
                "observers.count=3;writers.change=update-score",
            ])
        #expect(points.map(\.spec.observers.count) == [1, 1, 2, 2, 3])
    }

    @Test func aProfileChangesWhatItNames() throws {
        let text =
            plainScenario + """

                sweep: { dataset.items: [1_000, 2_000] }
                profiles:
                  smoke: { duration: 100ms, warm_up: 0s, observers: { count: 5 }, sweep: { server.standby: [1us] } }
                  full: { repeat: 3 }
                """
        let smoke = try #require(try parse(text).points(profile: .smoke).first)
        #expect(
            smoke.variant == "server.standby=1us" && smoke.spec.observers.count == 5
                && smoke.spec.serverStandbyNs == 1_000)
        #expect(smoke.spec.durationNs == 100_000_000 && smoke.spec.warmUpNs == 0 && smoke.spec.dataset.items == 1_000)
        #expect(try parse(text).points(profile: .ci).count == 2)
        #expect(try trials(text, .full).count == 2 * 3 * testDrivers.count)
    }

    @Test func weightsOfChangesAreKept() throws {
        for (change, weights) in [
            ("touch", ["touch": 1]), ("{ update: score }", ["update-score": 1]),
            ("{ update-score: 0.8, touch: 0.2 }", ["update-score": 0.8, "touch": 0.2]),
            ("[insert, { update: score }]", ["insert": 1, "update-score": 1]), ("{ delete: 3 }", ["delete": 1]),
        ] as [(String, [String: Double])] {
            let text = plainScenario.replacing("rate: 200/s", with: "rate: 200/s, change: \(change)")
            #expect(try trials(text).first?.writers.changes == weights)
        }
    }

    // MARK: Order and seeds

    @Test func repetitionsComeRoundByRound() throws {
        let text = plainScenario + "\nrepeat: 2\nsweep: { dataset.items: [1_000, 2_000] }"
        #expect(
            try trials(text).map { "\($0.trial) \($0.dataset.items) \($0.driver)" } == [
                "0 1000 noop", "0 1000 stillingwell", "0 2000 noop", "0 2000 stillingwell",
                "1 1000 noop", "1 1000 stillingwell", "1 2000 noop", "1 2000 stillingwell",
            ])
    }

    @Test func seedsDifferByRepetitionAndByNothingElse() throws {
        let text = plainScenario + "\nrepeat: 3\nsweep: { dataset.items: [1_000, 2_000] }"
        let all = try trials(text)
        #expect(Set(all.map(\.seed)).count == 3)
        #expect(Set(all.map { "\($0.trial) \($0.seed)" }).count == 3)
        #expect(try trials(text) == all)
        #expect(Set(try trials(text, seed: 2).map(\.seed)).isDisjoint(with: all.map(\.seed)))
        #expect(try trials(text, seed: 1) == all)
    }

    @Test func onlyTheDriversItIsMeantFor() throws {
        let text = plainScenario + "\ndrivers: [noop]"
        #expect(Set(try trials(text).map(\.driver)) == ["noop"])
        #expect(try parse(text).trials(profile: .ci, drivers: ["stillingwell"]).isEmpty)
    }

    @Test func unknownDriversAreRefused() {
        #expect(
            throws: ScenarioErrors([
                ScenarioProblem(.option("--driver noo"), "unknown driver 'noo' (did you mean 'noop'?)")
            ])
        ) {
            try parse(plainScenario).trials(profile: .ci, drivers: ["noo"])
        }
    }

    // MARK: Overrides

    @Test func anOverrideWinsOverFileAndProfile() throws {
        let text = plainScenario + "\nprofiles: { ci: { duration: 2s } }"
        let overrides = [
            "duration": "3s", "observers.count": "7", "writers.change": "touch:0.2+update-score:0.8",
            "writers.arrivals": "bursts", "writers.burst": "1_000",
        ]
        let spec = try #require(try trials(text, overrides: overrides).first)
        #expect(spec.durationNs == 3_000_000_000 && spec.observers.count == 7 && spec.writers.burst == 1_000)
        #expect(spec.writers.changes == ["touch": 0.2, "update-score": 0.8])
    }

    @Test func anOverridePinsASweptKey() throws {
        let text = plainScenario + "\nsweep: { dataset.items: [1_000, 2_000], observers.count: [1, 2] }"
        #expect(
            try parse(text).points(profile: .ci, overrides: ["dataset.items": "5000"]).map(\.variant)
                == ["dataset.items=5000;observers.count=1", "dataset.items=5000;observers.count=2"])
    }

    @Test func overridesAreAsStrictAsFiles() {
        #expect(
            complaints(overriding: ["observers.cuont": "1", "writers.rate": "200", "dataset.items": "-1"]) == [
                "--set dataset.items: 'dataset.items' must be from 1 to 100000000, found -1",
                "--set observers.cuont: unknown key 'observers.cuont' (did you mean 'observers.count'?)",
                "--set writers.rate: 'writers.rate' needs a unit: 200/s",
            ])
        #expect(
            complaints(overriding: ["writers.load": "closed"]) == [
                "--set writers.load: 'writers.rate' does not apply with 'load: closed', where each commit begins after "
                    + "the last one returned (remove one of the two)"
            ])
    }
}
