// Tests of calibrations. Figures that depend on the machine are not checked.
import Foundation
import StillingWellTestThreads
import Testing

@Suite(.serialized, .onThreads) struct CalibrateTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        try folder.write(
            "Scenarios/commit.yaml",
            Data(
                """
                purpose: What does a commit take?
                represents: itself
                drivers: [model]
                durability: memory
                dataset: { items: 50 }
                observers: { count: 0 }
                writers: { threads: 1, load: open, rate: 500/s, arrivals: uniform, change: { update: score }, rows_per_commit: 1 }
                measure: [write_service_time]
                gate: write_service_time
                warm_up: 10ms
                duration: 80ms
                hang_timeout: 1s
                """.utf8))
    }

    private let work = [
        "calibrate", "--comparisons", "2", "--power", "1", "--flaw", "tail=1:2ms", "--pairs", "6", "--seed", "4",
        "--keep-noisy", "--resamples", "100",
    ]

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/Reports/calibration")) ?? []
    }

    /// Lines of the journal. Empty if there is no journal yet.
    private var journal: [Substring] {
        let name = files.first { $0.hasSuffix(".ndjson") }
        return name.map { folder.read("Reports/calibration/\($0)").split(separator: "\n") } ?? []
    }

    @Test func anInterruptedOneGoesOnWithItsPairs() throws {
        let ran = try Binary.fixture.interrupt(work, in: folder) { journal.count > 8 }
        #expect(ran.status == 130, "\(ran.output) \(ran.errors)")
        #expect(ran.errors.contains("continue with: tidegauge calibrate --resume"), "\(ran.errors)")
        let before = journal
        let resumed = try Binary.fixture.run(["calibrate", "--resume"], in: folder)
        #expect(resumed.status == 0, "\(resumed.output) \(resumed.errors)")
        let after = journal
        #expect(Array(after.prefix(before.count)) == before && after.count > before.count)
        #expect(resumed.output.contains("of 2 called something regressed"), "\(resumed.output)")
        // The injected flaw is much longer than a commit.
        #expect(resumed.output.contains("tail=1:2ms: detected in 1 of 1"), "\(resumed.output)")
        #expect(resumed.output.contains("this machine can see"))
        #expect(files.contains { $0.hasSuffix(".html") } && files.contains { $0.hasSuffix(".json") })
        // Nothing is left to do, and the output is the same.
        let again = try Binary.fixture.run(["calibrate", "--resume"], in: folder)
        #expect(again.status == 0 && again.output == resumed.output)
        #expect(journal == after)
        let other = try Binary.tidegauge.run(["calibrate", "--resume"], in: folder)
        #expect(other.status == 64 && other.errors.contains("another binary began it"), "\(other.errors)")
    }

    @Test func misuseIsSaid() throws {
        let none = try Binary.fixture.run(["calibrate", "--resume"], in: folder)
        #expect(none.status == 64 && none.errors.contains("nothing was interrupted"), "\(none.errors)")
        let flaw = try Binary.fixture.run(["calibrate", "--flaw", "spin"], in: folder)
        #expect(flaw.status == 64 && flaw.errors.contains("'spin' is no artificial cost"))
        #expect(try Binary.fixture.run(["calibrate", "--comparisons", "0"], in: folder).status == 64)
    }
}
