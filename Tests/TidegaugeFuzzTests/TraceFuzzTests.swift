// Fuzzes recordings that a scenario replays.
import Foundation
import StillingWell
import StillingWellFixtures
import StillingWellSeededRandom
import StillingWellTestThreads
import Synchronization
import Testing
import TidegaugeDriver

@testable import TidegaugeScenario
@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

@Suite("Fuzzing traces", .serialized, .onThreads)
struct TraceFuzzTests {
    private static let scenario = """
        purpose: How long does it take?
        represents: a complaint
        dataset: { items: 100 }
        writers: { arrivals: trace, trace: due.txt }
        measure: [delivery_latency]
        gate: delivery_latency
        warm_up: 1ms
        duration: 1s
        """

    private static let words = [
        "holds", "commit", "subscribe", "found", "drop", "end", " insert", " update", " delete", "Sample", "filter=",
        "sort=", "sort=-", "limit=", "#", "\n", " ", ",", "=", "1e-9", "86400", "86401", "-1", "nan", "100000000",
        "99999999999999999999",
    ]

    /// Returns a recording made by the store with a clock that advances 10 ms per reading, and adds the lines of two
    /// subscriptions.
    private static func recording() throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.path + "/stillingwell-fuzz-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store(.init(path: folder, models: Samples.models, durability: .relaxed))
        defer { store.close() }
        try store.write { connection in
            for number in 0..<3 { try connection.create(Sample.self, value: ["name": "\(number)"]) }
        }
        let moment = Atomic<Int64>(0)
        let file = folder + "/trace"
        let recorder = try store.record(to: file) { moment.add(10_000_000, ordering: .relaxed).newValue }
        try store.write { connection in
            try connection.create(Sample.self, value: ["name": "new"])
            try connection.object(Sample.self, forPrimaryKey: "0")?.number = 7
            try connection.object(Sample.self, forPrimaryKey: "1")?.ratio = 7
        }
        try store.write { try $0.delete($0.objects(Sample.self)) }
        try recorder.end()
        let watched = "0.000001 subscribe 1 Sample filter=number,text sort=-number limit=2\n0.000001 found 1 2\n"
        let dropped = "0.9 subscribe 2 Sample sort=name\n0.9 found 2 0\n0.95 drop 2\n0.95 end\n"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { $0 + "\n" }
        return Array((lines[0] + watched + lines[1...].dropLast().joined() + dropped).utf8)
    }

    @Test("trace: a recording makes a workload, or is refused with its place", arguments: seeds(1))
    func trace(_ seed: UInt64) throws {
        let good = [try Self.recording(), Array("# times\n0\n0.000001\n\n0.5\r\n0.5\n1e0\n".utf8)]
        var fuzzer = try Fuzzer("trace", seed: seed, words: Self.words, good: good)
        try fuzzer.run(200) { bytes -> String in
            let files = NamedFiles(beside: { _, _ in .found(bytes) })
            let specs: [TrialSpec]
            do throws(ScenarioErrors) {
                let scenario = try Scenario.parse(
                    Array(Self.scenario.utf8), path: "fuzz.yaml", drivers: ["noop"], files: files)
                specs = try scenario.trials(profile: .ci, drivers: ["noop"])
            } catch {
                return refusal(error)
            }
            return try specs.map { try replay($0, seed) }.joined()
        }
    }

    /// Replays a workload on a model of the rows. Each operation must be possible at its place.
    private func replay(_ spec: TrialSpec, _ seed: UInt64) throws -> String {
        guard let workload = spec.workload else { return "times \(min(spec.writers.traceNs.count, 8))" }
        let dataset = Dataset(spec)
        let plan = QueryAssignment(spec)
        var rows = Set((0..<dataset.count).map { dataset.item(at: $0).key })
        var generator = ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: 0)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        for _ in 0...workload.commits.count {
            for change in generator.fill(changes) {
                let key = change.item.key
                let isPossible =
                    switch change.operation {
                    case .insert: rows.insert(key).inserted
                    case .delete: rows.remove(key) != nil
                    default: rows.contains(key)
                    }
                #expect(isPossible, "TIDEGAUGE_SEED=\(seed): \(change) in \(workload)")
            }
        }
        let steps = PassingQueries.steps(workload.passing, endNs: spec.warmUpNs + spec.durationNs)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.atNs <= $1.atNs })
        let kinds = Set(workload.commits.joined().map(\.kind.rawValue)).sorted()
        return "\(min(workload.rows.count, 4)) \(plan.queries.count) \(workload.passing.count) \(kinds) \(steps.count)"
    }
}
