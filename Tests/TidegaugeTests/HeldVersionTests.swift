// Tests of versions that are held while writers go on. At the end the oracle compares their rows.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeStillingWellDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

/// A store whose held versions show the newest rows.
private final class ForgetfulStore: DrivenStore, Pinning {
    private final class Newest: HeldVersion {
        let version: Int64
        private let store: DrivenStillingWell

        init(_ store: DrivenStillingWell) throws {
            (self.store, version) = (store, try store.pin().version)
        }

        func contents(of query: Query) throws -> [Item] { try store.contents(of: query) }
    }

    private let base: DrivenStillingWell

    init(_ base: DrivenStillingWell) { self.base = base }

    func load(count: Int, item: (Int) -> Item) throws { try base.load(count: count, item: item) }
    func makeWriter() throws -> any StoreWriter { base.makeWriter() }
    func subscribe(
        to query: Query, at site: DeliverySite, sink: any DeliverySink
    ) throws -> any DriverSubscription { try base.subscribe(to: query, at: site, sink: sink) }
    func contents(of query: Query) throws -> [Item] { try base.contents(of: query) }
    func fileBytes() throws -> Int { try base.fileBytes() }
    func close() throws { try base.close() }
    func pin() throws -> any HeldVersion { try Newest(base) }
    func activeVersions() throws -> Int { try base.activeVersions() }
}

private struct ForgetfulDriver: StoreDriver {
    let name = "forgetful"
    var facts: EngineFacts { StillingWellDriver().facts }
    func open(_ configuration: StoreConfiguration) throws -> ForgetfulStore {
        ForgetfulStore(try StillingWellDriver().open(configuration))
    }
}

@Suite(.serialized, .onThreads) struct HeldVersionTests {
    private func tiny(_ driver: String, _ sort: ObserversSpec.Sort) -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver)
        (spec.observers.heldSnapshots, spec.observers.sort) = (5, sort)
        // Rows are inserted, changed in place, moved and deleted.
        spec.writers.changes = ["update-score": 2, "touch": 1, "insert": 1, "delete": 1]
        return spec
    }

    @Test(arguments: [ObserversSpec.Sort.none, .scoreAscending, .scoreDescending])
    func aHeldVersionShowsWhatItShowed(_ sort: ObserversSpec.Sort) throws {
        let result = try runTrial(tiny("stillingwell", sort), on: StillingWellDriver()) {
            ($0.counts["held_rows"] ?? 0) > 100
        }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.counts["held_rows"] ?? 0 > 100, "\(result.counts)")
    }

    @Test(arguments: [ObserversSpec.Sort.none, .scoreAscending, .scoreDescending])
    func aHeldVersionThatMovesIsCalledWrong(_ sort: ObserversSpec.Sort) throws {
        let result = try runTrial(tiny("forgetful", sort), on: ForgetfulDriver()) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "\(result.notes)")
        #expect(result.violations.contains { $0.hasPrefix("held version ") }, "\(result.violations)")
        #expect(result.violations.allSatisfy { $0.hasPrefix("held version ") }, "\(result.violations)")
    }
}
