// Tests of scenarios that extend others.
import Testing

@testable import TidegaugeScenario
@testable import TidegaugeSpec

@Suite struct ExtendsTests {
    private static let base = """
        purpose: How long does it take?
        represents: a complaint
        dataset: { items: 1_000 }
        observers: { count: 2, match: 0.25 }
        writers: { rate: 200/s, arrivals: poisson }
        sweep: { observers.count: [1, 2] }
        measure: [delivery_latency, missed_final]
        limits: { missed_final: "== 0" }
        gate: delivery_latency
        duration: 1s
        profiles: { smoke: { duration: 10ms, writers: { rate: 100/s } }, full: { repeat: 5 } }
        """

    private func parse(
        _ text: String, _ files: [String: String] = ["base.yaml": base], beside: [String: String] = [:]
    ) throws(ScenarioErrors) -> Scenario {
        try Scenario.parse(
            Array(text.utf8), path: "own.yaml", drivers: testDrivers,
            files: NamedFiles(
                beside: { name, path in beside["\(path) \(name)"].map { .found(Array($0.utf8)) } ?? .missing },
                extended: { name, _ in
                    files[name].map { .found(path: name, bytes: Array($0.utf8)) } ?? .missing(hint: " (a hint)")
                }))
    }

    private func complaints(_ text: String, _ files: [String: String] = ["base.yaml": base]) -> [String] {
        do throws(ScenarioErrors) {
            _ = try parse(text, files)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func everyKeyOfTheOtherHoldsAndIsNamedAfterItsOwnFile() throws {
        let scenario = try parse("extends: base.yaml")
        #expect(scenario.name == "own")
        #expect(scenario.purpose == "How long does it take?")
        #expect(scenario.limits == [Limit(.missedFinal, .equal, 0)])
        #expect(try scenario.points(profile: .ci).map(\.spec.observers.match) == [0.25, 0.25])
        #expect(try scenario.points(profile: .smoke)[0].spec.writers.rateHz == 100)
    }

    @Test func sectionsAndProfilesGoKeyByKeyAndTheRestAsAWhole() throws {
        let scenario = try parse(
            """
            extends: base.yaml
            purpose: And with more rows?
            dataset: { groups: 5 }
            writers: { rate: 300/s }
            sweep: { dataset.items: [50, 60, 70] }
            profiles: { smoke: { writers: { threads: 2 } } }
            """)
        #expect(scenario.purpose == "And with more rows?")
        let points = try scenario.points(profile: .ci)
        #expect(points.map(\.spec.dataset.items) == [50, 60, 70])
        #expect(points[0].spec.dataset.groups == 5)
        #expect(points[0].spec.writers.rateHz == 300)
        #expect(points[0].spec.writers.arrivals == .poisson)
        #expect(points[0].spec.observers.count == 2)
        let smoke = try scenario.points(profile: .smoke)[0].spec
        #expect((smoke.writers.threads, smoke.writers.rateHz, smoke.durationNs) == (2, 100, 10_000_000))
        #expect(try scenario.points(profile: .full)[0].repetitions == 5)
    }

    @Test func whatHasNoMeaningAnyMoreIsLeftOut() throws {
        let scenario = try parse(
            """
            extends: base.yaml
            without: [writers.rate, writers.arrivals, sweep, limits]
            writers: { load: closed }
            """)
        for profile in Profile.allCases {
            #expect(try scenario.points(profile: profile).map(\.spec.writers.load) == [.closed])
        }
        #expect(scenario.limits.isEmpty)
    }

    @Test func aChainIsFollowed() throws {
        let files = ["base.yaml": Self.base, "middle.yaml": "extends: base.yaml\ndataset: { items: 7 }\n"]
        let scenario = try parse("extends: middle.yaml\nduration: 3s", files)
        let spec = try scenario.points(profile: .ci)[0].spec
        #expect((spec.dataset.items, spec.durationNs) == (7, 3_000_000_000))
        // A change in the first file of the chain gives another checksum.
        let changed = try parse(
            "extends: middle.yaml\nduration: 3s", files.merging(["base.yaml": Self.base + "\n"]) { $1 })
        #expect(changed.sha256 != scenario.sha256)
    }

    @Test func aTraceLiesBesideTheFileThatNamesIt() throws {
        let base = Self.base.replacing("rate: 200/s, arrivals: poisson", with: "arrivals: trace, trace: day.txt")
            .replacing(", writers: { rate: 100/s }", with: "")
        let scenario = try parse("extends: base.yaml", ["base.yaml": base], beside: ["base.yaml day.txt": "0.7\n"])
        #expect(try scenario.points(profile: .ci)[0].spec.writers.traceNs == [700_000_000])
    }

    @Test func aConflictWithAFileAboveSaysHowToEndIt() {
        let text = "extends: base.yaml\nwriters: { load: closed }"
        let found = complaints(text, ["base.yaml": Self.base, "own.yaml": text])
        #expect(found.first?.hasSuffix("; own.yaml can drop it by 'without: [writers.rate]'") ?? false, "\(found)")
        // A problem of the extended file itself is corrected there.
        let wrong = Self.base.replacing("items: 1_000", with: "items: many")
        #expect(!complaints("extends: base.yaml", ["base.yaml": wrong]).joined().contains("without"))
    }

    @Test(arguments: [
        (
            "extends: nowhere",
            [
                "own.yaml:1:10: 'extends' names 'nowhere', and there is no such file beside this one and no scenario of that "
                    + "name (a hint)"
            ]
        ),
        (
            "extends: [base.yaml]",
            ["own.yaml:1:10: 'extends' expects a file such as 'other.yaml', or a scenario's name, found a list"]
        ),
        (
            "extends: round.yaml",
            [
                "back.yaml:2:10: 'extends' leads in a circle: own.yaml → round.yaml → back.yaml → round.yaml (end it in one "
                    + "of them)"
            ]
        ),
        (
            "extends: own.yaml",
            ["own.yaml:1:10: 'extends' leads in a circle: own.yaml → own.yaml (end it in one of them)"]
        ),
        ("extends: base.yaml\nwritres: {}", ["own.yaml:2:1: unknown key 'writres' (did you mean 'writers'?)"]),
        ("extends: wrong.yaml", ["wrong.yaml:3:19: 'dataset.items' expects"]),
        ("extends: broken.yaml", ["broken.yaml:2:1: not valid YAML"]),
        (
            "extends: base.yaml\nwriters: { load: closed }",
            [
                "base.yaml:5:18: 'writers.rate' does not apply with 'load: closed'",
                "base.yaml:5:35: 'writers.arrivals' does not apply with 'load: closed'",
                "base.yaml:11:55: 'writers.rate' does not apply with 'load: closed'",
            ]
        ),
        (
            "extends: base.yaml\nwithout: [writers.burst, limtis]",
            [
                "own.yaml:2:11: the extended file has no 'writers.burst' to remove",
                "own.yaml:2:26: unknown key 'limtis' (did you mean 'limits'?)",
            ]
        ),
        ("without: [limits]\n" + base, ["own.yaml:1:1: 'without' requires 'extends'"]),
    ])
    func whatIsWrongIsToldWithTheFileItStandsIn(text: String, beginnings: [String]) {
        let files = [
            "base.yaml": Self.base, "own.yaml": text, "round.yaml": "extends: back.yaml",
            "back.yaml": "# and back\nextends: round.yaml",
            "wrong.yaml": Self.base.replacing("items: 1_000", with: "items: many"), "broken.yaml": "purpose: [",
        ]
        let found = complaints(text, files)
        #expect(found.count == beginnings.count, "\(found)")
        for (complaint, beginning) in zip(found, beginnings) { #expect(complaint.hasPrefix(beginning), "\(complaint)") }
    }
}
