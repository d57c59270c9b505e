// Tests of runs that are compared with an earlier run.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct BaselineTests {
    private static let file = "Reports/baselines/last.json"
    private static let both = ["--baseline", "last", "--save-baseline", "last"]

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(
            "a.yaml",
            Data(
                """
                purpose: What became worse?
                represents: itself
                drivers: [model, lost-last]
                durability: memory
                dataset: { items: 50 }
                observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
                writers: { threads: 1, load: open, rate: 1_000/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
                measure: [end_to_end_latency, missed_final, writer_bytes]
                gate: end_to_end_latency
                warm_up: 20ms
                duration: 100ms
                hang_timeout: 500ms
                """.utf8))
        return folder
    }

    private func run(_ arguments: [String], in folder: Folder, driver: String = "model") throws -> Ran {
        try Binary.fixture.run(["run", "a.yaml", "--driver", driver] + arguments, in: folder)
    }

    @Test func theFirstRunWritesOneAndTheNextIsHeldAgainstIt() throws {
        let folder = try folder()
        let first = try run(Self.both, in: folder)
        #expect(first.status == 0, "\(first.errors)")
        #expect(
            first.output.contains(
                "baseline 'last': written to \(Self.file), the first one here: the next run is compared with it\nReport: "
            ),
            "\(first.output)")
        let names = ["report.html", "summary.md"]
        func pages() -> [String] { names.map { folder.read("Reports/latest/\($0)") } }
        for page in pages() { #expect(page.contains("end_to_end_latency") && !page.contains("Since baseline")) }
        let next = try run(Self.both, in: folder)
        #expect(next.status == 0, "\(next.errors)")
        // The baseline file now holds this run. Pages that are made again show the comparison with the earlier one.
        let found = pages()
        for page in found { #expect(page.contains("Since baseline last (20")) }
        for name in names { try folder.write("Reports/latest/\(name)", Data()) }
        #expect(try Binary.fixture.run(["report", "Reports/latest"], in: folder).status == 0)
        #expect(pages() == found)
        #expect(next.output.contains("baseline 'last' (20") && next.output.contains(" worse"), "\(next.output)")
        #expect(next.output.contains("baseline 'last': written to \(Self.file)\nReport: "), "\(next.output)")
        // A run that does not pass leaves the baseline file as it was.
        let before = folder.read(Self.file)
        let lost = try run(Self.both, in: folder, driver: "lost-last")
        #expect(lost.status == 4, "\(lost.errors)")
        #expect(lost.output.contains("baseline 'last': not written: the run did not pass"), "\(lost.output)")
        #expect(folder.read(Self.file) == before)
    }

    /// Bytes are counted only if the counting allocator is available.
    @Test func aCountThatGrewIsNamedAndLeavesTheExitCodeAlone() throws {
        let folder = try folder()
        #expect(try run(["--save-baseline", "last"], in: folder).status == 0)
        let text = folder.read(Self.file)
        let series = #/"metric":"writer_bytes"[^}]*\},"values":\[/#
        guard text.contains(series) else { return }
        // Changes the baseline to one byte per commit.
        let changed = text.replacing(#/("metric":"writer_bytes"[^}]*\},"values":\[)[^\]]*/#) { "\($0.output.1)1" }
        try folder.write(Self.file, Data(changed.utf8))
        let ran = try run(["--baseline", "last"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.output.contains("worse than 'last': a model writer_bytes: 1 → "), "\(ran.output)")
        #expect(folder.read(Self.file) == changed, "the baseline file is as it was")
    }

    @Test func oneOfAnotherMachineOrVersionIsNotCompared() throws {
        let folder = try folder()
        #expect(try run(["--save-baseline", "last"], in: folder).status == 0)
        let text = folder.read(Self.file)
        try folder.write(Self.file, Data(text.replacing(#/"cores":\d+/#, with: "\"cores\":4711").utf8))
        let other = try run(["--baseline", "last"], in: folder)
        #expect(other.status == 0 && other.output.contains("not compared: it was made with "), "\(other.output)")
        #expect(other.output.contains("4711 cores"))
        try folder.write(Self.file, Data("{\"version\":2}".utf8))
        let newer = try run(Self.both, in: folder)
        #expect(newer.status == 0 && newer.output.contains("not compared: its format has version 2"), "\(newer.output)")
        #expect(folder.read(Self.file).contains("\"version\":1"))
    }

    @Test func whatIsNoBaselineIsRefusedBeforeAnythingRuns() throws {
        let folder = try folder()
        let missing = try run(["--baseline", "last"], in: folder)
        #expect(missing.status == 64 && missing.output.isEmpty, "\(missing.errors)")
        #expect(
            missing.errors.contains("--baseline: there is no \(Self.file); --save-baseline last makes one"),
            "\(missing.errors)")
        try folder.write(Self.file, Data("none".utf8))
        let damaged = try run(Self.both, in: folder)
        #expect(damaged.status == 64 && damaged.errors.contains("this is no baseline; remove it"), "\(damaged.errors)")
        for option in ["--baseline", "--save-baseline"] {
            let named = try run([option, "../last"], in: folder)
            #expect(
                named.status == 64 && named.errors.contains("'../last' is no name of a baseline"), "\(named.errors)")
        }
        #expect(!folder.exists("Reports/latest"))
    }
}
