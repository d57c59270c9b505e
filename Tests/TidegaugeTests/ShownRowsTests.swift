// Tests of the rows shown in callbacks, and of their sampling.
import Foundation
import StillingWellSync
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeSpec

@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct ShownRowsTests {
    /// Without change sets, only the rows show which version they are of.
    @Test func aVersionThatTheRowsAreNotOfIsSeen() throws {
        for sort in [ObserversSpec.Sort.none, .scoreAscending, .scoreDescending] {
            var spec = TrialSpec.tiny(driver: Fault.versionAhead.rawValue)
            spec.observers.sort = sort
            // On a busy machine there may be few callbacks, and perhaps none of the wrong ones is sampled.
            let result = try runTrial(spec, on: FaultyDriver(.versionAhead)) { $0.fate != .completed }
            #expect(result.fate == .oracleViolation, "\(sort): \(result.notes)")
            #expect(result.violations.contains { $0.contains("shown rows: callback ") }, "\(result.violations)")
        }
    }

    @Test func aRowOfTheStateBeforeIsSeenInsideTheCallback() throws {
        let spec = TrialSpec.tiny(driver: Fault.halfApplied.rawValue)
        let result = try runTrial(spec, on: FaultyDriver(.halfApplied)) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.contains { $0.contains("shown rows: callback ") }, "\(result.violations)")
    }

    /// Scenarios that run by default, without an audit.
    @Test(arguments: ["latency/commit-latency.yaml", "coalescing/burst-coalesce.yaml", "fairness/many-writers.yaml"])
    func theDefaultScenariosSeeIt(path: String) throws {
        let spec = try shippedTrial(path, on: Fault.halfApplied.rawValue)
        #expect(spec.observers.audit == .none)
        let result = try runTrial(spec, on: FaultyDriver(.halfApplied)) { !$0.violations.isEmpty }
        #expect(result.violations.contains { $0.contains("shown rows: callback ") }, "\(result.notes)")
        let sound = try runTrial(spec, on: ModelDriver()) { $0.counts["row_samples"] ?? 0 > 10 }
        #expect(sound.fate == .completed, "\(sound.notes) \(sound.violations)")
        #expect(sound.counts["row_samples"]! > 10)
    }

    @Test func whatIsLookedAtIsBounded() throws {
        var spec = TrialSpec.tiny()
        spec.measure = ["missed_final"]
        let sampler = try #require(try RowSampler(0, .scoreDescending, spec, ModelDriver().capabilities))
        let rows = CountedRows()
        let named = Array(0..<100)
        for number in 0..<3_264 {
            let delivery = Delivery(version: 1, isInitial: false, count: 100, modifications: named)
            sampler.look(delivery, callback: number, rows)
        }
        // 64 callbacks and about 100 of the others. In each, one row anywhere and eight given ones are read.
        #expect(rows.read >= 9 * 64 + 9 * 50 && rows.read <= 9 * 64 + 9 * 200, "\(rows.read)")
        #expect(sampler.samples.count == rows.read)
        // If allocations are counted, only the first callbacks are sampled.
        let counting = try #require(try RowSampler(0, .scoreDescending, .tiny(), ModelDriver().capabilities))
        let before = rows.read
        for number in 0..<1_000 {
            counting.look(Delivery(version: 1, isInitial: false, count: 1), callback: number, rows)
        }
        #expect(rows.read - before == 64)
        // If instructions are counted, only callbacks of the warm-up are sampled.
        spec.count = CountSpec(commits: 900, warmUpCommits: 10, counter: "callgrind")
        let counted = try #require(try RowSampler(0, .scoreDescending, spec, ModelDriver().capabilities))
        let beforeCounting = rows.read
        for number in 0..<1_000 {
            counted.look(Delivery(version: 1, isInitial: false, count: 1), callback: number, rows)
        }
        #expect(rows.read - beforeCounting == 10)
        // Observers without rows, and observers after the first 64, are not sampled.
        #expect(try RowSampler(64, .none, spec, ModelDriver().capabilities) == nil)
        var capabilities = ModelDriver().capabilities
        capabilities.shows = .nothing
        #expect(try RowSampler(0, .none, spec, capabilities) == nil)
    }

    /// Rows of engines in other processes are there already, and reading them delays nobody.
    @Test func allRowsOfEnginesInOtherProcessesAreRead() throws {
        let sampler = try #require(try RowSampler(0, .scoreDescending, .tiny(), ModelDriver().capabilities))
        let rows = CountedRows()
        for number in 0..<1_000 {
            let delivery = Delivery(version: 1, isInitial: false, count: 10_000, modifications: [3], atNs: 1)
            sampler.look(delivery, callback: number, rows)
        }
        // Two rows of each of the first 64 are also read one by one.
        #expect(rows.read == 2 * 64)
        #expect((0..<sampler.samples.count).count { sampler.samples[$0].index < 0 } == 1_000)
    }

    /// A faulty engine calls an observer after the load, when the fault has been read on another thread.
    @Test func aCallAfterTheFaultWasReadIsSampled() throws {
        var spec = TrialSpec.tiny()
        spec.dataset.textCharacters = 40
        let sampler = try #require(try RowSampler(0, .scoreDescending, spec, ModelDriver().capabilities))
        let rows = WrongRows()
        let site = RunLoopThread("site")
        for number in 0..<2 {
            try site.performAndWait {
                sampler.look(Delivery(version: 1, isInitial: false, count: 1), callback: number, rows)
            }
            #expect(sampler.fault?.contains("text") == true)
        }
        #expect(rows.read == 2)
        site.stop()
    }

    @Test func allRowsAreReadUntilTheyAreTooMany() throws {
        var capabilities = ModelDriver().capabilities
        capabilities.hasChangeSets = false
        let sampler = try #require(try RowSampler(0, .scoreDescending, .tiny(), capabilities))
        let rows = CountedRows()
        for number in 0..<64 {
            sampler.look(Delivery(version: 1, isInitial: false, count: 100_000), callback: number, rows)
        }
        // The observers of a trial share a budget of 2^20 rows, and each gets half of it here.
        #expect(sampler.samples.count == 5)
    }
}

/// Shows a row at every index, but none if all rows are asked for.
private class CountedRows: DriverSubscription, @unchecked Sendable {
    private(set) var read = 0

    func cancel() {}
    func currentItems() -> [Item] { [] }
    func forEachShown(_ indices: Range<Int>, _ body: (Item) -> Void) {
        guard indices.upperBound < .max else { return }
        for index in indices {
            read += 1
            body(Item(key: Int64(index), group: 0, score: 0, stamp: 0))
        }
    }
}

/// Rows whose texts are all wrong.
private final class WrongRows: CountedRows, WholeRowSubscription, @unchecked Sendable {
    func forEachShownRow(_ indices: Range<Int>, _ body: (WholeRow) -> Void) {
        forEachShown(indices) { body(WholeRow($0, text: "wrong", payload: Data(), counterpartStamp: nil)) }
    }
}
