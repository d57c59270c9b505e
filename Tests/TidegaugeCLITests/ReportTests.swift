// Tests of the files that a run leaves, of resuming a run, and of lists and the schema as JSON.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct ReportTests {
    private func scenario(duration: String = "100ms", extra: String = "") -> Data {
        Data(
            """
            purpose: Is everything reported?
            represents: itself
            drivers: [model]
            durability: memory
            dataset: { items: 50 }
            observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
            writers: { threads: 1, load: open, rate: 1_000/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
            measure: [end_to_end_latency, write_service_time, staleness, missed_final]
            gate: end_to_end_latency
            warm_up: 20ms
            duration: \(duration)
            hang_timeout: 500ms
            \(extra)
            """.utf8)
    }

    @Test func aRunLeavesEveryFormat() throws {
        let folder = try Folder()
        try folder.write("Scenarios/sound.yaml", scenario(duration: "600ms"))
        let ran = try Binary.fixture.run(["run", "--trace", "--quiet"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.errors.isEmpty, "\(ran.errors)")
        for name in [
            "metrics.csv", "series.csv", "journal.ndjson", "environment.json", "report.json", "junit.xml", "summary.md",
            "report.html", "trace.json", "histograms/sound.model.0.hlog",
        ] {
            #expect(!folder.read("Reports/latest/\(name)").isEmpty, "\(name)")
        }
        let log = folder.read("Reports/latest/histograms/sound.model.0.hlog")
        for metric in ["end_to_end_latency", "write_service_time"] {
            #expect(log.contains("Tag=\(metric),0.000,0.600,"))
        }
        let series = folder.read("Reports/latest/series.csv").split(separator: "\n")
        for (metric, statistic) in [
            ("staleness", "mean"), ("staleness", "max"), ("end_to_end_latency", "mean"), ("achieved_rate", "value"),
        ] {
            #expect(series.count { $0.contains(",\(metric),\(statistic),") } == 3, "\(metric) \(statistic)")
        }
        for event in ["\"commit\"", "\"lock wait\"", "\"observer 0\"", "\"writer-0\""] {
            #expect(folder.read("Reports/latest/trace.json").contains(event), "\(event)")
        }

        let page = folder.read("Reports/latest/report.html")
        try folder.write("Reports/latest/report.html", Data())
        let again = try Binary.fixture.run(["report", "Reports/latest"], in: folder)
        #expect(again.status == 0, "\(again.errors)")
        #expect(folder.read("Reports/latest/report.html") == page)
        #expect(try Binary.fixture.run(["report", "nowhere"], in: folder).status == 64)
    }

    /// Runs two scenarios, and interrupts the run once the trial of the first is in the journal.
    private func interrupted(_ folder: Folder) throws {
        try folder.write("s/a.yaml", scenario())
        try folder.write("s/b.yaml", scenario(duration: "3600s"))
        let ran = try Binary.fixture.interrupt(
            ["run", "s", "--driver", "model", "--set", "hang_timeout=7s"], in: folder
        ) {
            folder.read("Reports/latest/journal.ndjson").contains("\"trial\":{")
        }
        #expect(ran.status == 130, "\(ran.errors)")
        #expect(ran.errors.contains("run --resume Reports/"))
    }

    @Test func anInterruptedRunKnowsItsPlan() throws {
        let folder = try Folder()
        try interrupted(folder)
        let before = folder.metrics().filter { $0["scenario"] == "a" }
        #expect(!before.isEmpty && before.allSatisfy { $0["run_id"] == before[0]["run_id"] })
        // Resuming would take an hour. So the journal gets another selection, with which it cannot be resumed.
        let journal = folder.read("Reports/latest/journal.ndjson")
        #expect(journal.contains("\"overrides\":[\"hang_timeout=7s\"]"))
        let short = journal.split(separator: "\n").map { line in
            line.replacingOccurrences(of: "{\"run\":{", with: "{\"run\":{\"filter\":\"a\",")
        }
        try folder.write("Reports/latest/journal.ndjson", Data((short.joined(separator: "\n") + "\n").utf8))
        let resumed = try Binary.fixture.run(["run", "--resume", "Reports/latest", "--quiet"], in: folder)
        #expect(resumed.status == 64, "a scenario is gone, but \(resumed.errors)")
        #expect(resumed.errors.contains("s/b.yaml: the scenario is gone"), "\(resumed.errors)")
    }

    private func name(_ row: [String: String]) -> String {
        ["trial", "metric", "statistic"].map { row[$0] ?? "" }.joined(separator: " ")
    }

    @Test func finishedTrialsAreKeptAndTheRestIsRun() throws {
        let folder = try Folder()
        try folder.write("s/a.yaml", scenario(extra: "repeat: 3"))
        let whole = try Binary.fixture.run(["run", "s", "--driver", "model"], in: folder)
        #expect(whole.status == 0, "\(whole.errors)")
        // Simulates a kill during the third trial: its lines are incomplete.
        let lines = folder.read("Reports/latest/journal.ndjson").split(separator: "\n")
        let kept = lines.filter { line in
            !line.contains("\"trial\":2,") && !line.hasPrefix("{\"judged\"") && !line.hasPrefix("{\"ended\"")
        }
        #expect(kept.count == 3 && lines.count >= 4, "\(lines.count)")
        try folder.write("Reports/latest/journal.ndjson", Data((kept.joined(separator: "\n") + "\n{\"tri").utf8))
        // The number of trials voided by noise depends on the time of the run.
        func figures() -> [[String: String]] { folder.metrics().filter { $0["metric"] != "voided_trials" } }
        let before = figures()
        let resumed = try Binary.fixture.run(["run", "--resume", "Reports/latest"], in: folder)
        #expect(resumed.status == 0, "\(resumed.errors)")
        let after = figures()
        let (had, has) = (before.map(name), after.map(name))
        #expect(has.count == had.count, "\(has.difference(from: had))")
        #expect(after.filter { $0["trial"] != "2" } == before.filter { $0["trial"] != "2" })
        #expect(after.filter { $0["trial"] == "2" } != before.filter { $0["trial"] == "2" })
        let series = folder.read("Reports/latest/series.csv").split(separator: "\n")
        #expect(Set(series).count == series.count)
        #expect(folder.read("Reports/latest/journal.ndjson").contains("\"trial\":2,"))
    }

    @Test func anotherScenarioIsRefused() throws {
        let folder = try Folder()
        try folder.write("s/a.yaml", scenario())
        #expect(try Binary.fixture.run(["run", "s", "--driver", "model"], in: folder).status == 0)
        let before = folder.read("Reports/latest/metrics.csv")
        try folder.write("s/a.yaml", scenario(extra: "# changed"))
        let resumed = try Binary.fixture.run(["run", "--resume", "Reports/latest"], in: folder)
        #expect(resumed.status == 64)
        #expect(resumed.errors.contains("s/a.yaml: the scenario has changed"), "\(resumed.errors)")
        // Another binary is refused too.
        try folder.write("s/a.yaml", scenario())
        let other = try Binary.tidegauge.run(["run", "--resume", "Reports/latest"], in: folder)
        #expect(other.status != 0 && folder.read("Reports/latest/metrics.csv") == before)
        let journal = folder.read("Reports/latest/journal.ndjson")
            .replacingOccurrences(of: "\"binary\":\"", with: "\"binary\":\"x")
        try folder.write("Reports/latest/journal.ndjson", Data(journal.utf8))
        let binary = try Binary.fixture.run(["run", "--resume", "Reports/latest"], in: folder)
        #expect(binary.status == 64 && binary.errors.contains("the binary is another one"), "\(binary.errors)")
        #expect(try Binary.fixture.run(["run", "--resume", "nowhere"], in: folder).status == 64)
        #expect(try Binary.fixture.run(["run", "s", "--resume", "Reports/latest"], in: folder).status == 64)
    }

    @Test func listsAndSchemaAreJSON() throws {
        let folder = try Folder()
        try folder.write("Scenarios/sound.yaml", scenario())
        for (kind, key) in [
            ("scenarios", "purpose"), ("drivers", "capabilities"), ("metrics", "unit"), ("keys", "default"),
        ] {
            let ran = try Binary.fixture.run(["list", kind, "--json"], in: folder)
            let list = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [[String: String]]
            #expect(list?.isEmpty == false && list!.allSatisfy { $0[key] != nil }, "\(kind)")
        }
        let schema = try Binary.fixture.run(["schema"], in: folder)
        let object = try JSONSerialization.jsonObject(with: Data(schema.output.utf8)) as? [String: Any]
        #expect(object?["$schema"] != nil && schema.output.contains("\"model\""))
        for shell in ["bash", "zsh", "fish"] {
            #expect(try Binary.tidegauge.run(["--generate-completion-script", shell], in: folder).status == 0)
        }
    }
}
