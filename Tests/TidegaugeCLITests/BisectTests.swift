// Tests of comparisons of commits. The repository's program builds in a moment, because it only executes the fixture,
// with commits as slow as its source says.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads, .nightly) struct BisectTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        try folder.write("Package.swift", Data(Self.package.utf8))
        try folder.write("Scenarios/commit.yaml", Data(Self.scenario.utf8))
        try folder.write(".gitignore", Data(".build*/\nReports/\nstdout\nstderr\nPackage.resolved\n".utf8))
        try git("init", "--quiet", "--initial-branch=main")
    }

    private static let package = """
        // swift-tools-version: 6.0
        import PackageDescription
        let package = Package(name: "subject", targets: [.executableTarget(name: "subject", path: "Sources")])
        """

    private static let scenario = """
        purpose: Which commit made commits slow?
        represents: itself
        drivers: [model]
        durability: memory
        dataset: { items: 50 }
        observers: { count: 0 }
        writers: { threads: 1, load: open, rate: 200/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
        measure: [write_service_time]
        gate: write_service_time
        warm_up: 10ms
        duration: 150ms
        hang_timeout: 1s
        """

    @discardableResult
    private func git(_ arguments: String...) throws -> String { try git(arguments) }

    @discardableResult
    private func git(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "git \(arguments): \(text)")
        return text
    }

    /// Returns the words of the `git bisect run` line in Docs/compare.md, for this repository and fixture.
    private func documentedBisection() throws -> [String] {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Docs/compare.md")
        let prefix = "git bisect run sh -c "
        let lines = try String(contentsOf: guide, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(prefix) })
        let options = ["--scenario", "commit", "--no-count"] + Self.options
        let script = line.dropFirst(prefix.count).filter { $0 != "'" }
            .replacing("tidegauge compare GOOD", with: "\(Binary.fixture.path) compare good")
            .replacing("--scenario NAME", with: options.joined(separator: " "))
        return ["bisect", "run", "sh", "-c", script]
    }

    private func commit(_ subject: String, delayNs: Int) throws {
        let program = """
            import Glibc
            // \(subject)
            setenv("TIDEGAUGE_FIXTURE_DELAY_NS", "\(delayNs)", 1)
            execv("\(Binary.fixture.path)", CommandLine.unsafeArgv)
            exit(127)
            """
        try folder.write("Sources/main.swift", Data(program.utf8))
        try git("add", "--all")
        try git("commit", "--quiet", "-m", subject)
    }

    private static let options = [
        "--product", "subject", "--configuration", "debug", "--pairs", "6", "--keep-noisy", "--resamples", "100",
        "--seed", "5",
    ]

    private func ask(_ arguments: String...) throws -> Ran {
        try Binary.fixture.run(arguments + Self.options, in: folder)
    }

    @Test func theCommitThatMadeItSlowIsFound() throws {
        try commit("Begin", delayNs: 0)
        try git("tag", "good")
        try commit("Say something else", delayNs: 0)
        try git("tag", "harmless")
        try commit("Wait in each commit", delayNs: 3_000_000)
        let slow = try git("rev-parse", "HEAD").trimmingCharacters(in: .newlines)
        try commit("Say it better", delayNs: 3_000_000)
        try git("bisect", "start", "main", "good")
        let found = try git(documentedBisection())
        #expect(found.contains("\(slow) is the first bad commit"), "\(found)")
        try git("bisect", "reset")
        // Binaries are kept, so compared commits are not built again.
        let compared = try ask("compare", "good", slow)
        #expect(compared.status == 1 && compared.output.contains("regressed: commit model"), "\(compared.output)")
        #expect(!compared.errors.contains("building"), "\(compared.errors)")
        // The first commit added to a history needs `--anchor`, the commit that all others are measured beside.
        let nowhere = try ask("history", "--add", "main")
        #expect(nowhere.status == 64 && nowhere.errors.contains("name its --anchor"), "\(nowhere.errors)")
        #expect(try ask("history", "--add", "harmless", "--anchor", "good").status == 0)
        let history = try ask("history", "--add", "main")
        #expect(history.status == 0, "\(history.errors)")
        #expect(
            history.output.contains("Say something else") && history.output.contains("Say it better"),
            "\(history.output)")
        #expect(folder.read("Reports/history.ndjson").split(separator: "\n").count == 2)
    }

    /// Uncommitted changes are built too and are labelled. The tree and its index remain as they are.
    @Test func theWorkingTreeIsComparedAsItIs() throws {
        try commit("Begin", delayNs: 0)
        try folder.write(
            "Sources/main.swift",
            Data(folder.read("Sources/main.swift").replacingOccurrences(of: "\"0\"", with: "\"3000000\"").utf8))
        let compared = try ask("compare", "HEAD")
        #expect(compared.status == 1, "\(compared.output) \(compared.errors)")
        #expect(compared.output.contains("working tree"), "\(compared.output)")
        try git("diff", "--cached", "--quiet")
        #expect(folder.read("Sources/main.swift").contains("3000000"))
    }
}
