// Tests of reads inside callbacks.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeFetchedResultsDriver
import TidegaugeGRDBDriver
import TidegaugeHarnessFixtures
import TidegaugeNoopDriver
import TidegaugeSQLiteHooksDriver
import TidegaugeStillingWellDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct AnswerTests {
    private static let drivers: [any StoreDriver] = [
        ModelDriver(), StillingWellDriver(), GRDBDriver(.pool), GRDBDriver(.memory), SQLiteHooksDriver(),
    ]
    private static let asked = ObserversSpec.Reads.allCases.filter { $0 != .none && $0 != .open }

    private func tiny(_ driver: String, _ reads: ObserversSpec.Reads, seed: UInt64 = 1) -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver, seed: seed)
        spec.observers.reads = reads
        // Rows are inserted, moved, changed in place and deleted.
        spec.writers.changes = ["update-score": 2, "touch": 1, "insert": 1, "delete": 1]
        return spec
    }

    /// Each engine with each read in the nightly run. Otherwise the store with each read, and other engines with one.
    @Test(
        arguments: cases(
            drivers.flatMap { driver in asked.map { (driver.name, $0) } },
            atEveryCommit: asked.map { ("stillingwell", $0) }
                + zip(drivers.map(\.name).filter { $0 != "stillingwell" }, asked).map { ($0, $1) }))
    func everyEngineAnswersByTheRowsOfAVersion(_ name: String, _ reads: ObserversSpec.Reads) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        for seed in testSeeds(1) {
            for sort in reads == .window ? [ObserversSpec.Sort.scoreAscending, .scoreDescending] : [.none] {
                var spec = tiny(name, reads, seed: seed)
                spec.observers.sort = sort
                let result = try runTrial(spec, on: driver) { ($0.counts["answers"] ?? 0) > 20 }
                #expect(result.fate == .completed, "\(name), seed \(seed): \(result.notes) \(result.violations)")
                #expect(result.counts["answers"] ?? 0 > 20, "\(name), seed \(seed): \(result.counts)")
            }
        }
    }

    /// The store with each form of a condition, and other engines with some.
    @Test(
        arguments: [
            "score in 100", "score or 20", "text in 1", "text in 100", "text startswith e", "text istartswith E",
            "text contains a", "text icontains A",
        ].map { ("stillingwell", $0) }
            + ["grdb-memory", "sqlite-hooks", ModelDriver().name].flatMap { name in
                ["score or 20", "text in 100", "text istartswith E", "text contains a"].map { (name, $0) }
            })
    func aConditionCountsTheRowsThatPass(_ name: String, _ condition: String) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        for seed in testSeeds(1) {
            var spec = tiny(name, .count, seed: seed)
            (spec.observers.condition, spec.observers.match, spec.observers.sort) = (condition, 1, .scoreDescending)
            (spec.observers.idleQueries, spec.dataset.groups, spec.dataset.textCharacters) = (0, 0, 12)
            let result = try runTrial(spec, on: driver) { ($0.counts["answers"] ?? 0) > 20 }
            #expect(result.fate == .completed, "\(name), seed \(seed): \(result.notes) \(result.violations)")
            #expect(result.counts["answers"] ?? 0 > 20, "\(name), seed \(seed): \(result.counts)")
        }
    }

    @Test(arguments: cases(["grdb-pool", "grdb-memory", "sqlite-hooks"], atEveryCommit: ["sqlite-hooks"]))
    func aListIsKeptByEnginesThatHaveNone(_ name: String) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        var spec = TrialSpec.tiny(driver: name)
        (spec.observers.sort, spec.observers.match, spec.observers.idleQueries) = (.list, 1, 0)
        spec.writers.changes = ["move": 4, "touch": 1, "insert": 1, "delete": 1]
        let result = try runTrial(spec, on: driver) { ($0.counts["rows_compared"] ?? 0) > 100 }
        #expect(result.fate == .completed, "\(name): \(result.notes) \(result.violations)")
    }

    @Test func rowsWithRandomKeysAreLookedUp() throws {
        var spec = tiny("stillingwell", .lookup)
        spec.dataset.keys = .uuid
        let result = try runTrial(spec, on: StillingWellDriver()) { ($0.counts["answers"] ?? 0) > 20 }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
    }

    @Test(
        arguments: cases(
            [StillingWellDriver() as any StoreDriver, GRDBDriver(.pool), SQLiteHooksDriver()].map(\.name),
            atEveryCommit: [StillingWellDriver().name]))
    func aStoreThatIsThereIsOpenedAgainAndAgain(_ name: String) throws {
        let driver = try #require(Self.drivers.first { $0.name == name })
        var spec = tiny(name, .open)
        spec.durability = "relaxed"
        let result = try runTrial(spec, on: driver) { ($0.counts["answers"] ?? 0) > 3 }
        #expect(result.fate == .completed, "\(name): \(result.notes) \(result.violations)")
        #expect(result.counts["answers"] ?? 0 > 3)
    }

    @Test(arguments: [ObserversSpec.Reads.sum, .iterate, .window])
    func anAnswerOfTheCallbackBeforeIsCalledWrong(_ reads: ObserversSpec.Reads) throws {
        var spec = tiny(Fault.staleAnswer.rawValue, reads)
        // Every commit changes rows that are shown.
        (spec.writers.keys, spec.writers.changes) = (.matching, ["move": 1])
        let result = try runTrial(spec, on: FaultyDriver(.staleAnswer)) {
            $0.fate != .completed || ($0.counts["answers"] ?? 0) > 200
        }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        let text = "answers: in callback 4 of observer 0 '\(reads.rawValue)' was answered "
        #expect(result.violations.contains { $0.hasPrefix(text) }, "\(result.violations)")
        // Checks of rows and change sets do not find this fault.
        #expect(result.violations.allSatisfy { $0.hasPrefix("answers: ") }, "\(result.violations)")
    }

    @Test func aCountOfTheCallbackBeforeIsCalledWrong() throws {
        var spec = tiny(Fault.staleAnswer.rawValue, .count)
        // The rate is low: the driver copies all rows in each callback, and lagging observers get few callbacks.
        (spec.writers.changes, spec.writers.rateHz) = (["insert": 1], 40)
        spec.observers.match = 1
        let result = try runTrial(spec, on: FaultyDriver(.staleAnswer)) {
            $0.fate != .completed || ($0.counts["answers"] ?? 0) > 200
        }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.allSatisfy { $0.hasPrefix("answers: ") && $0.contains("'count'") })
    }

    @Test func anErrorIsNoAnswerAndIsNamed() throws {
        let spec = tiny(Fault.failedAnswer.rawValue, .sum)
        let result = try runTrial(spec, on: FaultyDriver(.failedAnswer)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        let text = "answers: in callback 2 of observer 0 'sum' was not answered: the fixture gave up"
        #expect(result.violations.contains { $0.hasPrefix(text) }, "\(result.violations)")
    }

    @Test func whoCannotAnswerIsSkippedWithTheReason() {
        for driver in [NoopDriver() as any StoreDriver, FetchedResultsDriver()] {
            for reads in Self.asked {
                let spec = tiny(driver.name, reads)
                let reason = "its callbacks cannot read more than they are given"
                #expect(CapabilityCheck.obstacle(spec, driver.capabilities) == reason)
            }
        }
        for driver in [NoopDriver() as any StoreDriver, ModelDriver(), GRDBDriver(.memory)] {
            let obstacle = CapabilityCheck.obstacle(tiny(driver.name, .open), driver.capabilities)
            #expect(obstacle == "it keeps no store that could be opened again", "\(driver.name)")
        }
    }

    /// Counts are stored under a checksum of the spec, so it must not contain these keys if they are unset.
    @Test func aSpecOfWhoReadsNothingSaysNothingOfIt() throws {
        let text = String(decoding: try SpecDialect.json(.tiny(), version: TrialSpec.currentVersion), as: UTF8.self)
        #expect(!text.contains("\"reads\"") && !text.contains("\"condition\""))
    }
}
