// Tests of refused input.
import Foundation
import Testing

@Suite struct BadInputTests {
    private static let good = """
        purpose: Is this read?
        represents: itself
        drivers: [noop]
        dataset: { items: 50 }
        observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
        writers: { threads: 1, load: open, rate: 100/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
        measure: [end_to_end_latency]
        gate: end_to_end_latency
        duration: 50ms

        """

    @Test(arguments: [
        ("count: 1", "cuont: 1", "bad.yaml:5:14: "), ("duration: 50ms", "duration: 50parsec", "bad.yaml:9:11: "),
        ("count: 1", "count: -1", "bad.yaml:5:21: "),
        ("items: 50 }", "items: 50 }\nsweep: { dataset.itmes: [1] }", "5:10: "),
        (
            "gate: end_to_end_latency", "gate: end_to_end_latency\nlimits: { end_to_end_latency.slope: \"< 5ms\" }",
            "bad.yaml:9:11: 'end_to_end_latency' has no slope"
        ),
        ("drivers: [noop]", "drivers: [noo]", "did you mean 'noop'?"), ("[end_to_end_latency]", "[latency]", "7:11: "),
    ])
    func aWrongScenarioIs65WithItsPlace(from: String, to: String, place: String) throws {
        let folder = try Folder()
        try folder.write("good.yaml", Data(Self.good.utf8))
        try folder.write("bad.yaml", Data(Self.good.replacingOccurrences(of: from, with: to).utf8))
        for command in [["run", "good.yaml", "bad.yaml", "--driver", "noop"], ["check", "good.yaml", "bad.yaml"]] {
            let ran = try Binary.tidegauge.run(command, in: folder)
            #expect(ran.status == 65, "\(ran.errors)")
            #expect(ran.errors.contains(place), "\(ran.errors)")
            #expect(ran.output.isEmpty)
            #expect(!folder.exists("Reports"), "something was run")
        }
    }

    @Test(arguments: [
        Data(), Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 7) }), Data("a: &a [*a]\n".utf8),
        Data(("a0: &a0 [x]\n" + (1..<40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.joined()).utf8),
    ])
    func whatIsNoScenarioIs65(bytes: Data) throws {
        let folder = try Folder()
        try folder.write("bad.yaml", bytes)
        let ran = try Binary.tidegauge.run(["run", "bad.yaml"], in: folder)
        #expect(ran.status == 65, "\(ran.errors)")
        #expect(ran.errors.contains("bad.yaml"))
        #expect(!folder.exists("Reports"))
    }

    @Test func aMissingFileIs65() throws {
        let folder = try Folder()
        let ran = try Binary.tidegauge.run(["run", "nowhere.yaml"], in: folder)
        #expect(ran.status == 65)
        #expect(ran.errors.contains("nowhere.yaml: there is no such file"))
    }

    @Test func aFormerScenarioNameIs65WithTheNewOne() throws {
        let ran = try Binary.tidegauge.run(["run", "bystanders"], in: try Folder())
        #expect(ran.status == 65 && ran.errors.contains("(it is called 'idle-queries' now)"), "\(ran.errors)")
    }

    @Test(arguments: [
        (["run", "--profil", "ci"], "--profile"), (["run", "--profile", "huge"], "huge"),
        (["run", "good.yaml", "--driver", "noo"], "did you mean 'noop'?"),
        (["run", "good.yaml", "--driver", "stilwell"], "did you mean 'stillingwell'"),
        (["run", "good.yaml", "--set", "x"], "KEY=VALUE"),
        (["list", "rivers"], "rivers"), (["frobnicate"], "frobnicate"), (["run", "good.yaml", "--filter", "z*"], "z*"),
    ])
    func wrongUsageIs64(arguments: [String], text: String) throws {
        let folder = try Folder()
        try folder.write("good.yaml", Data(Self.good.utf8))
        let ran = try Binary.tidegauge.run(arguments, in: folder)
        #expect(ran.status == 64, "\(ran.errors)")
        #expect(ran.errors.contains(text), "\(ran.errors)")
        #expect(!folder.exists("Reports"))
    }

    @Test func overridesAreCheckedBeforeAnythingRuns() throws {
        let folder = try Folder()
        try folder.write("good.yaml", Data(Self.good.utf8))
        let ran = try Binary.tidegauge.run(
            ["run", "good.yaml", "--driver", "noop", "--set", "dataset.itmes=5"], in: folder)
        #expect(ran.status == 65)
        #expect(ran.errors.contains("--set dataset.itmes"))
        #expect(!folder.exists("Reports"))
    }

    @Test func theChildRefusesWhatItCannotRead() throws {
        let folder = try Folder()
        let ran = try Binary.tidegauge.run(["trial", "--result-dir", ".", "--store-dir", "."], in: folder)
        #expect(ran.status == 70)
        #expect(ran.errors.contains("trial spec"))
    }

    @Test func whatThereIsIsListed() throws {
        let folder = try Folder()
        try folder.write("Scenarios/good.yaml", Data(Self.good.utf8))
        #expect(try Binary.tidegauge.run(["list", "scenarios"], in: folder).output.hasPrefix("good\tIs this read?\t"))
        #expect(try Binary.tidegauge.run(["list", "drivers"], in: folder).output.contains("noop\t"))
        let metrics = try Binary.tidegauge.run(["list", "metrics"], in: folder).output
        #expect(metrics.contains("end_to_end_latency\tns\tlower is better\t"))
        #expect(try Binary.tidegauge.run(["check"], in: folder).output == "Scenarios/good.yaml: good: ok\n")
    }
}
