// Tests of comparisons of binaries, made like a user would.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct CompareTests {
    private func scenario(
        _ gate: String = "write_service_time", duration: String = "80ms", driver: String = "model",
        load: String = "load: open, rate: 1_000/s, arrivals: uniform"
    ) -> Data {
        Data(
            """
            purpose: Does a comparison see what was done to a commit?
            represents: itself
            drivers: [\(driver)]
            durability: memory
            dataset: { items: 50 }
            observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
            writers: { threads: 1, \(load), change: { update: score }, rows_per_commit: 1 }
            measure: [end_to_end_latency, write_service_time, missed_final, coalescing_ratio, harness_hiccup]
            gate: \(gate)
            warm_up: 10ms
            duration: \(duration)
            hang_timeout: 1s
            """.utf8)
    }

    /// Makes a folder with two names of one binary.
    private func folder() throws -> Folder {
        let folder = try Folder()
        for side in ["a", "b"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(side)", withDestinationPath: Binary.fixture.path)
        }
        return folder
    }

    private func latest(_ folder: Folder) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Reports")
        return "Reports/" + (names.filter { $0.hasPrefix("compare-") }.sorted().last ?? "none")
    }

    private func gates(_ folder: Folder, _ run: String) -> [[String: String]] {
        let lines = folder.read("\(run)/effects.csv").split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let header = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }.filter {
            $0["gate"] == "true"
        }
    }

    /// Compares commits in a clone with its newest commit alone, without git, and outside of a repository.
    @Test func whatIsMissingOfARepositoryIsSaid() throws {
        let folder = try Folder()
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            "git init -q whole && cd whole && for n in 1 2; do git -c user.name=a -c user.email=a@b commit -q --allow-empty -m $n; "
                + "done && git clone -q --depth 1 file://$PWD ../shallow",
        ]
        shell.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0)
        func refusal(_ name: String, path: String? = nil) throws -> String {
            let process = Binary.tidegauge.process(["compare", "HEAD~1", "HEAD"], in: folder)
            process.currentDirectoryURL = URL(fileURLWithPath: "\(folder.path)/\(name)")
            if let path { process.environment = ["PATH": path] }
            process.standardOutput = try folder.handle("stdout")
            process.standardError = try folder.handle("stderr")
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 64)
            return folder.read("stderr")
        }
        let shallow = try refusal("shallow")
        #expect(shallow.contains("git fetch --unshallow") && shallow.contains("fetch-depth: 0"), "\(shallow)")
        let without = try refusal("whole", path: "/nowhere")
        #expect(without.contains("git, which is needed for commits, is not installed"), "\(without)")
        let outside = try refusal("")
        #expect(outside.contains("only in their repository"), "\(outside)")
    }

    @Test func closedLoopsTakeTurnsAndOpenOnesDoNot() throws {
        let folder = try folder()
        // On a busy machine some of the 10 ms slices are lost.
        try folder.write("Scenarios/closed.yaml", scenario(duration: "300ms", load: "load: closed"))
        try folder.write("Scenarios/open.yaml", scenario())
        let ran = try Binary.fixture.run(
            [
                "compare", "a", "b", "--pairs", "6", "--seed", "1", "--keep-noisy", "--resamples", "100",
                "--inject-base", "none", "--inject-head", "tail=1:2ms",
            ], in: folder)
        #expect(ran.status == 1, "\(ran.output) \(ran.errors)")
        let run = try latest(folder)
        #expect(gates(folder, run).map { $0["verdict"]! } == ["regressed", "regressed"], "\(ran.output)")
        let pairs = folder.read("\(run)/comparison.ndjson").split(separator: "\n").filter { $0.contains("\"stage\"") }
        // Subjects are in the order of their names.
        for (subject, inTurns) in [(0, true), (1, false)] {
            let own = pairs.filter { $0.contains("\"subject\":\(subject)") }
            #expect(own.count >= 12 && own.allSatisfy { $0.contains("\"inTurns\":true") == inTurns })
        }
    }

    @Test func aFlawInTheHeadIsRedOnItsGateAloneAndEverythingIsKept() throws {
        let folder = try folder()
        try folder.write("Scenarios/slow.yaml", scenario())
        // A slow commit loses no delivery.
        try folder.write("Scenarios/sound.yaml", scenario("missed_final"))
        let ran = try Binary.fixture.run(
            [
                "compare", "a", "b", "--pairs", "6", "--seed", "1", "--keep-noisy", "--resamples", "100",
                "--inject-base", "none",
                "--inject-head",
                "tail=1:2ms",
            ],
            in: folder)
        #expect(ran.status == 1, "\(ran.output) \(ran.errors)")
        let run = try latest(folder)
        let gates = gates(folder, run)
        #expect(gates.map { $0["scenario"]! } == ["slow", "sound"])
        #expect(gates.map { $0["verdict"]! } == ["regressed", "unchanged"], "\(ran.output)")
        #expect(gates[0]["remark"] == "confirmed on fresh pairs")
        #expect(ran.output.contains("regressed: slow model"))
        for name in [
            "compare.html", "compare.json", "summary.md", "effects.csv", "pairs.csv", "comparison.ndjson",
            "environment.json", "github-action-benchmark.json", "bencher.json",
        ] {
            #expect(!folder.read("\(run)/\(name)").isEmpty, "\(name)")
        }
        #expect(!folder.exists("\(run)/trials"))
        // Both orders were used.
        let pairs = folder.read("\(run)/pairs.csv")
        #expect(pairs.contains(",head,,") && pairs.contains(",base,,"))
        let page = folder.read("\(run)/compare.html")
        try folder.write("\(run)/compare.html", Data())
        #expect(try Binary.fixture.run(["report", run], in: folder).status == 0)
        #expect(folder.read("\(run)/compare.html") == page)
        let tracker =
            try JSONSerialization.jsonObject(
                with: Data(folder.read("\(run)/github-action-benchmark.json").utf8)) as? [[String: Any]]
        #expect(tracker?.first?["name"] as? String == "slow/model/write_service_time p50")
        let bencher = try JSONSerialization.jsonObject(with: Data(folder.read("\(run)/bencher.json").utf8))
        #expect(((bencher as? [String: Any])?["slow/model"] as? [String: Any])?["write_service_time_p50"] != nil)
    }

    /// - Returns: the folder of a comparison that was interrupted once its first pair was recorded.
    private func interrupt(_ options: [String], in folder: Folder) throws -> String {
        var run: String?
        let ran = try Binary.fixture.interrupt(
            ["compare", "a", "b", "--keep-noisy", "--resamples", "100"] + options, in: folder
        ) {
            if folder.exists("Reports") { run = try? latest(folder) }
            return run.map { folder.read("\($0)/comparison.ndjson").contains("\"pair\":") } == true
        }
        #expect(ran.status == 130, "\(ran.output) \(ran.errors)")
        let kept = try #require(run)
        #expect(ran.errors.contains("continue with: tidegauge compare --resume \(kept)"))
        return kept
    }

    /// The interruption comes before there are enough pairs for a result.
    @Test func anInterruptedComparisonGoesOnWithItsFlaw() throws {
        let folder = try folder()
        try folder.write("Scenarios/slow.yaml", scenario())
        let kept = try interrupt(
            ["--pairs", "6", "--seed", "1", "--no-count", "--inject-base", "none", "--inject-head", "tail=1:2ms"],
            in: folder)
        func pairs() -> [Substring] {
            folder.read("\(kept)/comparison.ndjson").split(separator: "\n").filter { $0.contains("\"pair\":") }
        }
        let before = pairs()
        let resumed = try Binary.fixture.run(["compare", "--resume", kept], in: folder)
        #expect(resumed.status == 1, "\(resumed.output) \(resumed.errors)")
        #expect(pairs().count >= 6 && Array(pairs().prefix(before.count)) == before)
        #expect(gates(folder, kept).map { $0["verdict"]! } == ["regressed"], "\(resumed.output)")
    }

    @Test func aHeadThatBreaksAPromiseIsNoMatterOfStatistics() throws {
        let folder = try folder()
        try folder.write("Scenarios/lost.yaml", scenario("missed_final", driver: "lost-last"))
        let ran = try Binary.fixture.run(["compare", "a", "b", "--pairs", "6", "--driver", "lost-last"], in: folder)
        // Both sides fail in the same way, so the head is not the cause.
        #expect(ran.status == 2, "\(ran.output) \(ran.errors)")
        #expect(ran.output.contains("trials do not complete"))
        #expect(ran.output.contains("head pair 0: oracle_violation"))
        // The base lacks the driver, so nothing is left to compare.
        let other = try Binary.fixture.run(
            ["compare", Binary.tidegauge.path, "b", "--driver", "model", "--scenario", "lost", "--pairs", "6"],
            in: folder)
        #expect(other.status == 2 && other.output.contains("nothing could be compared"), "\(other.output)")
    }

    @Test func aDriverOfOneSideAndAnOldBinaryAreListed() throws {
        let folder = try folder()
        try folder.write("Scenarios/same.yaml", scenario("missed_final"))
        let ran = try Binary.fixture.run(["compare", Binary.tidegauge.path, "b", "--pairs", "6"], in: folder)
        #expect(ran.status == 2, "\(ran.errors)")
        #expect(ran.output.contains("not compared: same model: the base has no driver 'model'"), "\(ran.output)")
        // A binary that does not know the query for its drivers.
        try folder.write(
            "old",
            Data(
                "#!/bin/sh\necho 'trial spec: version -1, this binary reads version 1: use another' >&2\nexit 70\n".utf8
            ))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/old")
        let old = try Binary.fixture.run(["compare", "./old", "b", "--pairs", "6"], in: folder)
        #expect(
            old.errors.contains("does not say which trial specs it reads")
                && old.errors.contains("build it at commit 0f28f9de or later"),
            "\(old.output) \(old.errors)")
    }

    @Test(.nightly) func aGateOfTheHarnessIsComparedWhereItIsNamed() throws {
        let folder = try folder()
        try folder.write("Scenarios/own.yaml", scenario("harness_hiccup"))
        let all = try Binary.fixture.run(["compare", "a", "b", "--pairs", "6"], in: folder)
        #expect(all.status == 2, "\(all.errors)")
        #expect(
            all.output.contains("not compared: own: its gate 'harness_hiccup' measures the harness or the machine"),
            "\(all.output)")
        #expect(all.output.contains("--scenario own compares it"))
        let named = try Binary.fixture.run(
            ["compare", "a", "b", "--pairs", "6", "--scenario", "own", "--keep-noisy"], in: folder)
        #expect(named.output.contains("own model harness_hiccup"), "\(named.output) \(named.errors)")
    }

    @Test func finishedRunsAreLeftToTheReportOfTwo() throws {
        let folder = try folder()
        try folder.write("Scenarios/same.yaml", scenario())
        for out in ["x", "y"] {
            #expect(try Binary.fixture.run(["run", "--profile", "ci", "--out", out], in: folder).status == 0)
        }
        let refused = try Binary.fixture.run(["compare", "x/latest", "y/latest"], in: folder)
        #expect(refused.status == 64, "\(refused.errors)")
        #expect(refused.errors.contains("tidegauge report x/latest y/latest makes a page of both"))
        let page = try Binary.fixture.run(["report", "x/latest", "y/latest"], in: folder)
        #expect(page.status == 0, "\(page.errors)")
        #expect(page.output.contains("one such comparison in four"))
        #expect(page.output.contains("same model write_service_time p50"))
    }

    @Test(arguments: [
        ["compare"], ["compare", "a", "b", "--pairs", "3"], ["compare", "a", "b", "--budget", "soon"],
        ["compare", "a", "b", "--scenario", "none"], ["compare", "a", "b", "--inject-head", "spin"],
        ["compare", "--resume", "nowhere"], ["compare", "nothing-by-that-name"],
        ["compare", "a", "b", "--count-only", "--no-count"], ["compare", "a", "b", "--count-only", "--budget", "5m"],
    ])
    func misuseIsSaid(arguments: [String]) throws {
        let folder = try folder()
        try folder.write("Scenarios/same.yaml", scenario())
        let ran = try Binary.fixture.run(arguments, in: folder)
        #expect(ran.status == 64, "\(ran.status) \(ran.errors)")
        #expect(!ran.errors.isEmpty)
    }
}
