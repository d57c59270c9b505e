// Tests of `compare --build`: commits of an engine in Python, in a repository without Swift.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads, .enabled(if: Python.has("json"), "no python3 here")) struct ForeignCompareTests {
    private let folder: Folder
    private static let driver = ["--driver", "python3 engine.py"]

    /// Three commits. The second has the files of the first, and the third evaluates each query once more per commit.
    init() throws {
        folder = try Folder()
        let engine = try String(contentsOfFile: "\(repository)/Tests/Fixtures/Engines/dictionary.py", encoding: .utf8)
        try folder.write("Scenarios/commit.yaml", Data(Self.scenario.utf8))
        try folder.write("engine.py", Data(engine.utf8))
        try git("init", "--quiet", "--initial-branch=main")
        try git("add", "Scenarios", "engine.py")
        try git("commit", "--quiet", "--message=first")
        try git("commit", "--quiet", "--allow-empty", "--message=same")
        let evaluation = "    new = [list(row) for row in evaluate(query)]\n"
        try #require(engine.contains(evaluation))
        try folder.write(
            "engine.py", Data(engine.replacing(evaluation, with: "    evaluate(query)\n" + evaluation).utf8))
        try git("commit", "--quiet", "--all", "--message=twice")
    }

    private static let scenario = """
        purpose: What does a commit cost?
        represents: itself
        durability: memory
        dataset: { items: 300 }
        observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
        writers: { threads: 1, load: open, rate: 50/s, change: { update: score }, rows_per_commit: 200, keys: matching }
        measure: [end_to_end_latency]
        warm_up: 10ms
        duration: 150ms
        """

    private func git(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "git \(arguments)")
    }

    private func compare(_ base: String, _ head: String, _ options: [String]) throws -> Ran {
        try Binary.tidegauge.run(["compare", base, head] + options + Self.driver, in: folder)
    }

    @Test func oneMoreQueryPerCommitIsCalledByItsCounter() throws {
        let ran = try compare("HEAD~1", "HEAD", ["--build", "test -f engine.py", "--count-only"])
        #expect(ran.status == 1, "\(ran.output) \(ran.errors)")
        #expect(ran.output.contains("regressed: commit dictionary engine.queries_evaluated: 1 → 2"), "\(ran.output)")
        #expect(ran.output.contains("regressed: commit dictionary engine.rows_read: 150 → 300"), "\(ran.output)")
        // The builds are kept, and are no change of the working tree.
        #expect(ran.errors.contains("building HEAD~1") && !folder.read(".build-compare/.gitignore").isEmpty)
        let again = try compare("HEAD~1", "HEAD", ["--build", "test -f engine.py", "--count-only"])
        #expect(again.status == 1 && !again.errors.contains("building"), "\(again.output) \(again.errors)")
    }

    @Test func equalCommitsAreEqual() throws {
        let ran = try compare("HEAD~2", "HEAD~1", ["--build", "true", "--count-only"])
        #expect(ran.status == 0, "\(ran.output) \(ran.errors)")
        #expect(
            ran.output.contains("2 figures per commit counted by engine (lower is better), all unchanged"),
            "\(ran.output)")
        #expect(ran.output.contains("two counts of the base differ by 0.0 % at most"), "\(ran.output)")
    }

    /// Pairs are timed trials of both engines. Their figures contain the counters.
    @Test func pairsFollowTheCounts() throws {
        let ran = try compare(
            "HEAD~1", "HEAD", ["--build", "true", "--no-count", "--pairs", "6", "--keep-noisy", "--resamples", "10"])
        #expect([0, 1, 2].contains(ran.status), "\(ran.output) \(ran.errors)")
        let reports = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/Reports")
        let run = try #require(reports.first { $0.hasPrefix("compare-") })
        let rows = folder.read("Reports/\(run)/pairs.csv").split(separator: "\n")
        #expect(rows.contains { $0.contains(",engine.queries_evaluated,value,") }, "\(ran.output) \(ran.errors)")
    }

    @Test func aBuildThatFailsSaysItsLastWords() throws {
        let ran = try compare("HEAD~1", "HEAD", ["--build", "echo last words >&2; exit 3"])
        #expect(ran.status == 70, "\(ran.output) \(ran.errors)")
        #expect(ran.errors.contains("of HEAD~1") && ran.errors.contains("failed (exit status 3)"), "\(ran.errors)")
        #expect(ran.errors.contains("last words"), "\(ran.errors)")
    }

    @Test func anEngineThatDoesNotStartIsNamed() throws {
        let ran = try Binary.tidegauge.run(
            ["compare", "HEAD~1", "HEAD", "--build", "true", "--driver", "./no-engine"], in: folder)
        #expect(ran.status == 70 && ran.errors.contains("--driver './no-engine'"), "\(ran.status) \(ran.errors)")
    }
}
