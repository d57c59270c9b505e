// Fuzzes scenario files, hosts files, specs of trials, progress and results, journals of runs, and replayable hangs.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import TidegaugeMeasure
@testable import TidegaugeReport
@testable import TidegaugeScenario
@testable import TidegaugeSpec
@testable import TidegaugeTrial

@Suite("Fuzzing the harness", .serialized, .onThreads)
struct HarnessFuzzTests {
    private static func file(_ path: String) throws -> [UInt8] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        return Array(try Data(contentsOf: root.appendingPathComponent(path).standardizedFileURL))
    }

    private static let words = [
        "dataset:", "observers:", "writers:", "threads:", "sweep:", "limits:", "measure:", "profiles:", "extends:",
        "fault:", "[", "]", "{", "}", ": ",
        "- ", "&a", "*a", "<<:", "!!int", "|", "\n  ", "1e9", "-1", "0", "10_000", "99999999999999999999", "1ms", "1/s",
        "== 0", "<= 2×",
    ]

    @Test("scenario: a file is read, or refused with places in it", arguments: seeds(1))
    func scenario(_ seed: UInt64) throws {
        let good = try [
            "Scenarios/latency/commit-latency.yaml", "Scenarios/fairness/soak.yaml",
            "Scenarios/deadlock/refresh-close.yaml",
            "Scenarios/faults/version-pin.yaml",
        ].map(Self.file)
        var fuzzer = try Fuzzer("scenario", seed: seed, words: Self.words, good: good)
        try fuzzer.run(600) { bytes -> String in
            do throws(ScenarioErrors) {
                let scenario = try Scenario.parse(bytes, path: "fuzz.yaml", drivers: ["stillingwell", "grdb-pool"])
                for profile in Profile.allCases {
                    #expect(throws: Never.self) {
                        try scenario.trials(profile: profile, drivers: ["stillingwell", "grdb-pool"])
                    }
                }
                return "read \(scenario.name.count)"
            } catch {
                return refusal(error)
            }
        }
    }

    @Test("hosts: a file names hosts, or is refused with places in it", arguments: seeds(1))
    func hosts(_ seed: UInt64) throws {
        let good = [
            "db: { run: [], server: true, address: 10.0.0.1 }\nb: { run: [ssh, -T, b], binary: /opt/t }\na: { run: [] }\n",
            "# hosts\na:\n  run: [\"ssh\", 'b']\n  server: false\n",
        ]
        let words = ["run:", "binary:", "server:", "address:", "true", "false", "/", "\n", "a", "é", "''"] + Self.words
        var fuzzer = try Fuzzer("hosts", seed: seed, words: words, good: good.map { Array($0.utf8) })
        try fuzzer.run(2_000) { bytes -> String in
            do throws(ScenarioErrors) {
                let hosts = try HostsFile.read(bytes, path: "hosts.yaml")
                #expect(
                    !hosts.isEmpty && Set(hosts.map(\.name)).count == hosts.count, "TIDEGAUGE_SEED=\(seed): \(bytes)")
                return "read \(hosts.map { "\($0.isHere) \($0.run.count) \($0.serverAddress != nil)" })"
            } catch {
                return refusal(error)
            }
        }
    }

    /// Fuzzes a decoder. A value that it accepts must be encoded in a form that it accepts again.
    private func decode<Value: Codable>(
        _ type: Value.Type, _ name: String, _ seed: UInt64, _ count: Int, good: [[UInt8]]
    ) throws {
        var fuzzer = try Fuzzer(
            name, seed: seed, words: ["null", "true", "-1", "1e400", "{}", "[]", "\"\""], good: good)
        try fuzzer.run(count) { bytes -> String in
            guard let value = try? JSONDecoder().decode(type, from: Data(bytes)) else { return "refused" }
            let text = try JSONFile.text(value)
            let again = try JSONDecoder().decode(type, from: Data(text.utf8))
            #expect(
                try JSONFile.text(again) == text, "TIDEGAUGE_SEED=\(seed): \(String(decoding: bytes, as: UTF8.self))")
            return "taken \(text.count / 64)"
        }
    }

    @Test("spec: what a trial is asked is taken, or refused", arguments: seeds(1))
    func spec(_ seed: UInt64) throws {
        try decode(TrialSpec.self, "spec", seed, 2_000, good: [Array(try JSONFile.text(TrialSpec.blank).utf8)])
    }

    @Test("progress: what a trial says is taken, or refused", arguments: seeds(1))
    func progress(_ seed: UInt64) throws {
        let good = try [TrialProgress(.measuring), TrialProgress(.loading)].map { Array(try JSONFile.text($0).utf8) }
        try decode(TrialProgress.self, "progress", seed, 2_000, good: good)
    }

    @Test("result: what a trial of another commit hands over is taken, or refused", arguments: seeds(1))
    func result(_ seed: UInt64) throws {
        var result = TrialResult(fate: .completed, notes: ["a note"])
        result.figures = [Figure(.upkeepCost, .value, 31_250.75, n: 9), Figure(.endToEndLatency, .p99, nil, n: 0)]
        result.recordings.series = [SeriesRecord(.staleness, .mean, [nil, 1, 2.5])]
        let good = Array(try JSONFile.text(result).utf8)
        var fuzzer = try Fuzzer("result", seed: seed, words: ["null", "-1", "1e400", "{}", "[]", "\"\""], good: [good])
        try fuzzer.run(1_000) { bytes -> String in
            let own = try? TrialResult.read(Data(bytes))
            guard let foreign = try? TrialResult.readForeign(Data(bytes)) else { return "refused \(own == nil)" }
            let text = try JSONFile.text(foreign)
            _ = SeriesCSV.lines(foreign.recordings.series, of: TrialKey(.blank), runID: "a")
            return "taken \(own != nil) \(text.count / 64)"
        }
    }

    @Test("hang: what can be replayed is taken, or refused", arguments: seeds(1))
    func hang(_ seed: UInt64) throws {
        let stand = HangRecord.Stand(thread: "main", tid: 7, holds: ["a"], waitsFor: "b", stack: ["f()"])
        let hang = HangRecord(.deadlock, cycle: ["main>a"], sentence: "'main' waits", afterNs: 1, stands: [stand])
        let good = Array(try JSONFile.text(ReplayableHang(spec: .blank, hang: hang)).utf8)
        try decode(ReplayableHang.self, "hang", seed, 2_000, good: [good])
    }

    @Test("journal: its whole lines are read, or the one that is none is named", arguments: seeds(1))
    func journal(_ seed: UInt64) throws {
        let event = try JSONLines.text(RunEvent.ended(EndRecord(exitCode: 0)))
        let good = [Array((event + event).utf8), Array(event.dropLast(4).utf8)]
        let path = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var fuzzer = try Fuzzer("journal", seed: seed, words: ["\n", "{\"", "null"], good: good)
        try fuzzer.run(2_000) { bytes -> String in
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            do throws(DamagedReport) {
                let events: [RunEvent] = try JSONLines.read(path, "a journal", hint: "none")
                return "read \(events.count)"
            } catch {
                #expect(error.description.contains(path))
                return kind(of: error)
            }
        }
    }
}
