// Tests of counted trials of the built binary, on machines that can count. The load of the machine hardly changes a
// count.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeMeasure

@Suite(
    .serialized, .onThreads,
    .enabled(if: (try? InstructionCounter.ofThisMachine()) != nil, "this machine counts no instructions"))
struct CountTests {
    private static let scenario = Data(
        """
        purpose: What does a commit execute?
        represents: itself
        drivers: [stillingwell]
        durability: memory
        dataset: { items: 100 }
        observers: { count: 2, queries: overlapping, match: 0.9, sort: -score, deliver: run-loop }
        writers: { threads: 1, load: closed, change: { update: score }, rows_per_commit: 1, keys: matching }
        measure: [write_service_time, missed_final]
        gate: write_service_time
        duration: 100ms
        """.utf8)

    private func counts(_ arguments: [String]) throws -> [String: Double] {
        let folder = try Folder()
        try folder.write("a.yaml", Self.scenario)
        let ran = try Binary.tidegauge.run(["run", "a.yaml", "--quiet", "--seed", "5"] + arguments, in: folder)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let rows = folder.metrics().filter { $0["metric"]!.hasSuffix("_instructions") }
        #expect(rows.allSatisfy { $0["flags"]!.hasPrefix("counted:") }, "\(rows)")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["metric"]!, Double($0["value"]!) ?? -1) })
    }

    @Test("Every role executes instructions, and two runs agree within 1 %")
    func twice() throws {
        let (first, second) = (try counts(["--count"]), try counts(["--count"]))
        #expect(
            Set(first.keys) == [
                "writer_instructions", "upkeep_instructions", "observer_instructions", "engine_instructions",
            ])
        for (metric, value) in first {
            #expect(value > 1_000, "\(metric)")
            #expect(abs(second[metric]! / value - 1) < 0.01, "\(metric): \(value), then \(second[metric]!)")
        }
        let parts = ["writer", "upkeep", "observer"].reduce(0) { $0 + first["\($1)_instructions"]! }
        #expect(first["engine_instructions"]! >= parts * 0.999)
    }

    @Test("A comparison by counts only runs no pair, measures no wait, and names the gates that were not measured")
    func countOnly() throws {
        let folder = try Folder()
        try folder.write("Scenarios/a.yaml", Self.scenario)
        // Uses a name of its own, so that counts are kept in this folder.
        let binary = "\(folder.path)/tidegauge"
        try FileManager.default.createSymbolicLink(atPath: binary, withDestinationPath: Binary.tidegauge.path)
        // Measured times would need more pairs. With many rows per commit the injected wait adds few instructions.
        let comparison = [
            "compare", binary, binary, "--count-only", "--pairs", "1", "--seed", "5", "--inject-base", "none",
            "--inject-head", "wait=50%", "--set", "writers.rows_per_commit=80",
        ]
        let ran = try Binary.tidegauge.run(comparison, in: folder)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output.contains("3 figures per commit counted by"), "\(ran.output)")
        #expect(ran.output.contains("1 gate of clocks: a stillingwell"), "\(ran.output)")
        #expect(ran.output.contains("\nno regression in what was counted\n"), "\(ran.output)")
        // The second comparison adds no count.
        func kept() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/counts").sorted()
        }
        let first = try kept()
        #expect(first.count == 3)
        #expect(try Binary.tidegauge.run(comparison, in: folder).status == 0)
        #expect(try kept() == first)
    }

    @Test("How many commits are counted can be said, where some are, and how the count grows with the rows is told")
    func commits() throws {
        let folder = try Folder()
        try folder.write("a.yaml", Self.scenario + Data("\nsweep: { dataset.items: [50, 100] }".utf8))
        let ran = try Binary.tidegauge.run(["run", "a.yaml", "--quiet", "--count", "--commits", "3"], in: folder)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let rows = folder.metrics().filter { $0["metric"]!.hasSuffix("_instructions") }
        #expect(!rows.isEmpty && rows.allSatisfy { $0["n"] == "3" }, "\(rows)")
        let exponents = folder.metrics().filter { $0["metric"] == "instructions_exponent" }
        #expect(exponents.map { $0["variant"] } == ["*"] && exponents.map { $0["n"] } == ["2"], "\(exponents)")
        for (options, objection) in [
            (["--commits", "3"], "--commits requires --count"),
            (["--count", "--commits", "0"], "0 is not a number of commits"),
        ] {
            let refused = try Binary.tidegauge.run(["run", "a.yaml"] + options, in: folder)
            #expect(refused.status == 64 && refused.errors.contains(objection), "\(refused.errors)")
        }
    }

    @Test("A scenario without a counted form is skipped with the reason")
    func obstacle() throws {
        let folder = try Folder()
        try folder.write("a.yaml", Self.scenario)
        let ran = try Binary.tidegauge.run(
            ["run", "a.yaml", "--count", "--set", "observers.held_snapshots=1"], in: folder)
        #expect(ran.status == 0, "\(ran.errors)")
        #expect(ran.errors.contains("it has no counted form: the observers do something else beside the commits"))
    }
}
