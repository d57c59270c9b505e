// Traces: read beside the scenario, hashed with it, refused where they say nothing.
import Foundation
import Testing

@testable import Scenario

@Suite struct TraceTests {
    private let text = """
        purpose: How long does it take?
        represents: a complaint
        dataset: { items: 1_000 }
        writers: { arrivals: trace, trace: due.txt }
        measure: [delivery_latency, missed_final]
        gate: delivery_latency
        warm_up: 100ms
        duration: 1s
        """

    private func scenario(_ trace: String?, _ text: String? = nil) throws(ScenarioErrors) -> Scenario {
        let files = NamedFiles(beside: { name, _ in name == "due.txt" ? trace.map { Array($0.utf8) } : nil })
        return try Scenario.parse(
            Array((text ?? self.text).utf8), path: "test.yaml", drivers: testDrivers, files: files)
    }

    private func complaint(_ trace: String?) -> String? {
        do throws(ScenarioErrors) {
            _ = try scenario(trace)
            return nil
        } catch {
            return error.problems.map(\.description).joined(separator: "|")
        }
    }

    @Test func timesAreSecondsFromTheStartOfTheWarmUp() throws {
        let scenario = try scenario("# recorded\n0\n0.000001\n\n0.5\r\n0.5\n1e0\n")
        let spec = try scenario.trials(profile: .ci, drivers: ["livestore"])[0]
        #expect(spec.writers.traceNs == [0, 1_000, 500_000_000, 500_000_000, 1_000_000_000])
        #expect(spec.writers.arrivals == .trace)
    }

    @Test func theTraceIsPartOfTheQuestion() throws {
        let (one, same, other) = (try scenario("0.2"), try scenario("0.2"), try scenario("0.3"))
        #expect(one.sha256 == same.sha256 && one.sha256 != other.sha256)
        #expect(one.sha256 != SHA256.hexadecimal(Array(text.utf8)))
    }

    @Test(arguments: [
        (nil, "names 'due.txt', and there is no such file"), ("", "holds no due time"),
        ("# nothing\n", "holds no due time"), ("0\n1x\n", "has in line 2 '1x', which is no number of seconds"),
        ("0.2\n0.1\n", "has in line 2 a time before the one above it"),
        ("-1\n", "has in line 1 the time -1, which is not within a day"), ("90000\n", "not within a day"),
        ("nan\n", "which is no number"), ("0.05\n", "ends after 50ms, before 'warm_up' does"),
    ])
    func isRefused(trace: String?, words: String) throws {
        let said = try #require(complaint(trace))
        #expect(said.contains(words), "\(said)")
    }

    @Test func anOptionCannotNameOne() throws {
        let scenario = try scenario("0.2")
        #expect(throws: ScenarioErrors.self) {
            try scenario.trials(profile: .ci, drivers: ["livestore"], overrides: ["writers.trace": "other.txt"])
        }
    }

    @Test func theLibraryLooksBesideTheFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("traces-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appendingPathComponent("one.yaml"))
        #expect(throws: ScenarioErrors.self) {
            try ScenarioLibrary(drivers: testDrivers).load([folder.path])
        }
        try Data("0.2\n".utf8).write(to: folder.appendingPathComponent("due.txt"))
        #expect(try ScenarioLibrary(drivers: testDrivers).load([folder.path])[0].traces["due.txt"]?.count == 1)
    }
}
