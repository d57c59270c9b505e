// What passes between binaries of two commits: specs to an older one, results of one that knows more or less.
import Foundation
import HarnessFixtures
import Measure
import StoreDriver
import Testing

@testable import Scenario
@testable import TrialRunner
@testable import Trials

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
        for version in [1, TrialSpec.currentVersion + 1] {
            #expect(throws: SpecDialect.Refusal.self) { try SpecDialect.json(spec, version: version) }
        }
    }

    /// What was counted of a build is kept under a sum of it.
    @Test func aSpecIsTheSameBytesEachTime() throws {
        let texts = try (0..<8).map { _ in try SpecDialect.json(.tiny(), version: TrialSpec.currentVersion) }
        #expect(Set(texts).count == 1)
    }

    @Test func anOlderBinaryIsAskedWhatItKnowsAndNothingElse() throws {
        let plain = TrialSpec.tiny()
        let tree = try JSONSerialization.jsonObject(with: try SpecDialect.json(plain, version: 2)) as? [String: Any]
        #expect(tree?["specVersion"] as? Int == 2)
        let news: [(inout TrialSpec) -> Void] = [
            { $0.dataset.links = 1 }, { $0.dataset.neighbour = .busy }, { $0.observers.sort = .list },
            { $0.observers.subscribe = .cancelled }, { $0.observers.audit = .sums }, { $0.observers.pins = 1 },
            { $0.observers.operators = 1 }, { $0.writers.process = .own }, { $0.writers.arrivals = .onOff },
            { $0.writers.keys = .zipf }, { $0.writers.changes = ["move": 1] }, { $0.fault.kind = .stall },
            { $0.observers.churn = 1 },
        ]
        for change in news {
            var spec = plain
            change(&spec)
            #expect(throws: SpecDialect.Refusal.self) { try SpecDialect.json(spec, version: 2) }
        }
    }

    /// It would pass over the key, and not wait.
    @Test func anOlderBinaryIsNotAskedForCommitsThatWait() throws {
        var spec = TrialSpec.tiny()
        spec.shim = Shim("wait=10%")
        #expect(throws: SpecDialect.Refusal.self) { try SpecDialect.json(spec, version: 5) }
        let sent = try JSONDecoder().decode(
            TrialSpec.self, from: SpecDialect.json(spec, version: TrialSpec.currentVersion))
        #expect(sent.shim == spec.shim)
        // One from before there was such a wait.
        let older = Data(#"{"spinShare":0.05,"tailEvery":0,"tailNs":0,"lingerEvery":0,"lingerNs":0}"#.utf8)
        #expect(try JSONDecoder().decode(Shim.self, from: older) == Shim("spin=5%"))
    }

    /// The driver that does nothing was `null` up to version 4.
    @Test func anOlderBinaryIsAskedForADriverByTheNameThatItKnows() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.choreography = Choreography(actors: [])
        spec.choreography?.endings = ["noop": .deadlock, "livestore": .completes]
        for (version, name) in [(2, "null"), (4, "null"), (TrialSpec.currentVersion, "noop")] {
            let sent = try JSONDecoder().decode(TrialSpec.self, from: SpecDialect.json(spec, version: version))
            #expect(sent.driver == name)
            #expect(sent.choreography?.endings == [name: .deadlock, "livestore": .completes])
            #expect(SpecDialect.driver("noop", version: version) == name)
            #expect(SpecDialect.driver("livestore", version: version) == "livestore")
        }
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
