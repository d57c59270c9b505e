// Tests of the exchange between binaries of two commits.
import Foundation
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite struct ForeignTests {
    private func edited(_ result: TrialResult, _ edit: (inout [String: Any]) -> Void) throws -> Data {
        var tree = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(result)) as? [String: Any])
        edit(&tree)
        return try JSONSerialization.data(withJSONObject: tree)
    }

    @Test func metricsOfAnotherCommitAreKeptByName() throws {
        var result = TrialResult(fate: .completed)
        result.figures = [Figure(.lockWait, .p50, 5, n: 100)]
        let data = try edited(result) { tree in
            var figures = tree["figures"] as! [[String: Any]]
            figures.append([
                "metric": "brand_new", "statistic": "value", "value": 7.5, "n": 1, "censored": 0, "flags": [],
            ])
            tree["figures"] = figures
            tree["resultVersion"] = 99
            tree["oracleNs"] = nil
        }
        let read = try TrialResult.readForeign(data)
        #expect(read.figures == result.figures)
        #expect(read.foreign == [ForeignFigure(metric: "brand_new", statistic: "value", value: 7.5)])
        #expect(read.oracleNs == 0)
        #expect(throws: (any Error).self) { try TrialResult.read(data) }
        #expect(throws: (any Error).self) { try TrialResult.readForeign(Data("[]".utf8)) }
    }

    @Test func aSpecOfTodayIsRefusedToBinariesThatCannotReadIt() throws {
        let spec = TrialSpec.tiny()
        let same = try JSONDecoder().decode(
            TrialSpec.self, from: SpecDialect.json(spec, version: TrialSpec.currentVersion))
        #expect(same == spec)
        for version in [11, TrialSpec.currentVersion + 1] {
            #expect(throws: SpecDialect.Refusal.self) { try SpecDialect.json(spec, version: version) }
        }
    }

    /// An older binary ignores a metric that it does not know, so it gets the former name, and answers with it.
    @Test func renamedMetricsCrossVersions() throws {
        var spec = TrialSpec.tiny()
        spec.measure = ["missed_commits", "lock_wait"]
        for (version, name) in [(12, "unmade_commits"), (13, "unmade_commits"), (14, "missed_commits")] {
            let tree = try #require(
                try JSONSerialization.jsonObject(with: SpecDialect.json(spec, version: version)) as? [String: Any])
            #expect(tree["measure"] as? [String] == [name, "lock_wait"])
            let observers = try #require(tree["observers"] as? [String: Any])
            #expect(observers["bystanders"] as? Int == spec.observers.idleQueries)
        }
        let result = try edited(TrialResult(fate: .completed)) { tree in
            tree["figures"] = [
                ["metric": "unmade_commits", "statistic": "value", "value": 3, "n": 1, "censored": 0, "flags": []]
            ]
        }
        #expect(try TrialResult.readForeign(result).figures == [Figure(.missedCommits, .value, 3, n: 1)])
    }

    /// Journals of older runs contain the former names.
    @Test func formerNamesInJournalsAreRead() throws {
        let step = InterleavingSpec.Step.barrier("there")
        #expect(String(decoding: try JSONEncoder().encode(step), as: UTF8.self) == #"{"meet":{"_0":"there"}}"#)
        #expect(
            try JSONDecoder().decode([Metric].self, from: Data(#"["choreography_time"]"#.utf8)) == [
                .interleavingTestTime
            ])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Metric].self, from: Data(#"["x"]"#.utf8)) }
        #expect(
            RenamedWords.variant("observers.bystanders=1;observers.count=10")
                == "observers.count=10;observers.idle_queries=1")
        #expect(RenamedWords.variant("writers.rate=200/s") == "writers.rate=200/s" && RenamedWords.variant("*") == "*")
    }

    /// Counts of a build are stored under a checksum of the spec.
    @Test func aSpecIsTheSameBytesEachTime() throws {
        let texts = try (0..<8).map { _ in try SpecDialect.json(.tiny(), version: TrialSpec.currentVersion) }
        #expect(Set(texts).count == 1)
    }

    @Test(arguments: ["spin=5%", "wait=10%", "tail=100:5ms", "linger=2:3ms", "none"])
    func aShimIsReadAndTheStoreStaysTrue(text: String) throws {
        var spec = TrialSpec.tiny()
        spec.shim = Shim(text)
        #expect(spec.shim != nil && spec.shim.flatMap { Shim($0.description) } == spec.shim)
        let folder = FileManager.default.temporaryDirectory.path
        let result = Trial.run(spec, on: ModelDriver(), storeDirectory: folder)
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
    }

    @Test(arguments: [
        "", "spin", "spin=5", "spin=-1%", "wait=inf%", "wait=1ms", "tail=5%", "tail=5ms", "tail=0:5ms", "linger=2:",
        "other=1:2ms",
    ])
    func whatIsNoShimIsNone(text: String) { #expect(Shim(text) == nil) }
}
