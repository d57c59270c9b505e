// Tests of the commands for authors of scenarios.
import Foundation
import Testing

@Suite struct ScenarioFileTests {
    @Test func aFirstScenarioIsWrittenCheckedAndRun() throws {
        let folder = try Folder()
        #expect(try Binary.tidegauge.run(["init"], in: folder).status == 0)
        let checked = try Binary.tidegauge.run(["check", "scenario.yaml"], in: folder)
        #expect(checked.output == "scenario.yaml: scenario: ok\n")
        #expect(checked.errors.isEmpty, "\(checked.errors)")
        let ran = try Binary.tidegauge.run(
            ["run", "scenario.yaml", "--profile", "smoke", "--driver", "noop", "--quiet"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(folder.metrics().contains { $0["metric"] == "end_to_end_latency" })
    }

    @Test func initOverwritesNothing() throws {
        let folder = try Folder()
        try folder.write("mine.yaml", Data("purpose: Mine.\n".utf8))
        let ran = try Binary.tidegauge.run(["init", "mine.yaml"], in: folder)
        #expect(ran.status == 64)
        #expect(ran.errors.contains("mine.yaml exists"), "\(ran.errors)")
        #expect(folder.read("mine.yaml") == "purpose: Mine.\n")
        #expect(try Binary.tidegauge.run(["init", "nowhere/mine.yaml"], in: folder).status == 64)
    }

    /// The test's folder is outside of the repository.
    @Test func whatShipsIsKnownByNameAnywhere() throws {
        let folder = try Folder()
        let checked = try Binary.tidegauge.run(["check", "commit-latency", "recorded-day"], in: folder)
        #expect(
            checked.output == """
                Scenarios/latency/commit-latency.yaml: commit-latency: ok
                Scenarios/coalescing/recorded-day.yaml: recorded-day: ok

                """)
        let ran = try Binary.tidegauge.run(
            ["run", "commit-latency", "--profile", "smoke", "--driver", "noop", "--quiet"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        // The scenario equals that in the repository byte by byte.
        let local = try Binary.tidegauge.run(
            [
                "run", repository + "/Scenarios/latency/commit-latency.yaml", "--profile", "smoke", "--driver", "noop",
                "--quiet",
            ],
            in: folder)
        #expect(local.status == 0, "\(local.errors)")
        let runs = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Reports").filter {
            $0 != "latest"
        }
        let hashes = Set(
            runs.map { run in
                folder.read("Reports/\(run)/metrics.csv").split(separator: "\n").last?.split(separator: ",")[5] ?? ""
            })
        #expect(runs.count == 2 && hashes.count == 1, "\(hashes)")
        let unknown = try Binary.tidegauge.run(["run", "comit-latency"], in: folder)
        #expect(unknown.status == 65)
        #expect(unknown.errors.contains("did you mean 'commit-latency'?"), "\(unknown.errors)")
    }

    @Test func whatALimitHasNoSamplesForIsSaidBeforehand() throws {
        let folder = try Folder()
        try folder.write(
            "mine.yaml",
            Data("extends: commit-latency\nwriters: { rate: 60/s }\nlimits: { staleness.p99: \"< 5ms\" }\n".utf8))
        let ran = try Binary.tidegauge.run(["check", "mine.yaml"], in: folder)
        #expect(ran.status == 0)
        #expect(
            ran.errors.contains("mine.yaml:3:26: 'staleness.p99' cannot be judged in the profile 'ci'"), "\(ran.errors)"
        )
        #expect(ran.errors.contains("duration ≥ 23s"), "\(ran.errors)")
        let longer = try Binary.tidegauge.run(["check", "mine.yaml", "--profile", "smoke"], in: folder)
        #expect(longer.errors.isEmpty)
    }

    @Test(
        .enabled(
            if: Python.has("yaml", "ruamel.yaml", "jsonschema"),
            "needs PyYAML, ruamel.yaml and jsonschema (pip install pyyaml ruamel.yaml jsonschema)"))
    func everyScenarioIsValidByTheSchemaInBothVersionsOfYAML() throws {
        let folder = try Folder()
        try folder.write("schema.json", Data(try Binary.tidegauge.run(["schema"], in: folder).output.utf8))
        #expect(try Binary.tidegauge.run(["init", "first.yaml"], in: folder).status == 0)
        let root = repository + "/Scenarios"
        let names = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        let files = names.filter { $0.hasSuffix(".yaml") }.map { "\(root)/\($0)" }
        #expect(files.count > 50)
        let script = repository + "/Tools/validate-scenarios.py"
        let ran = try Python.run([script, "schema.json", "first.yaml"] + files, in: folder.path)
        #expect(ran.status == 0, "\(ran.output)")
        // The validator rejects a wrong scenario.
        try folder.write("wrong.yaml", Data("purpose: A.\nmeasure: [staleness]\nlimits: { stalenes: \"< 1s\" }\n".utf8))
        #expect(try Python.run([script, "schema.json", "wrong.yaml"], in: folder.path).status == 1)
    }
}
