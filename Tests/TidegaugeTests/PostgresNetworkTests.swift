// Tests of PostgreSQL behind a bad network. Every packet is delayed, and all connections are reset during the trial,
// those of writers and of observers.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeTrial

@testable import TidegaugePostgresDriver
@testable import TidegaugeSpec

@Suite(
    .serialized, .onThreads,
    .enabled(if: missingPostgres == nil, "no PostgreSQL server: `make servers` installs it"))
struct PostgresNetworkTests {
    private static let delayNs: Int64 = 2_000_000

    /// Interrupted commits are made once, and observers recover what they have missed. The median latency is not below
    /// the round-trip time.
    @Test(arguments: cases([PostgresDriver.Way.notify, .wal], atEveryCommit: [.wal]))
    func connectionsAreResetInTheMiddle(_ way: PostgresDriver.Way) throws {
        try withPostgres(over: .tcp, settings: ["wal_level=logical"]) { server in
            let port = try #require(server.options.first { $0.0 == "port" }.flatMap { UInt16($0.1) })
            let relay = try TCPRelay(to: port, delayNs: Self.delayNs)
            defer { relay.stop() }
            let driver = RelayedDriver(base: PostgresDriver(way), relay: relay)
            var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
            spec.serverURL = "postgresql://tidegauge@127.0.0.1:\(relay.port)/postgres"
            // Each commit updates rows, whose column `stamp` then tells whether it was made.
            spec.writers.changes = ["update-score": 1]
            (spec.writers.rateHz, spec.durationNs) = (100, 1_000_000_000)
            (spec.fault.kind, spec.fault.atNs) = (.serverRestarted, 300_000_000)
            let result = try runTrial(spec, on: driver) {
                $0.fate != .completed
                    || ($0.value(.failedCommits) ?? 0) > 0 && $0.value(.recoveryTime, "max") != nil
            }
            #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
            #expect(result.value(.missedFinal) == 0)
            #expect((result.value(.failedCommits) ?? 0) > 0 && result.value(.recoveryTime, "max") != nil)
            let quickestNs = try #require(result.value(.endToEndLatency, "p50"))
            #expect(quickestNs >= Double(2 * Self.delayNs))
        }
    }
}

/// A driver behind a relay. A restart of the server resets the relay's connections.
private struct RelayedDriver: StoreDriver {
    let base: PostgresDriver
    let relay: TCPRelay

    var name: String { base.name }
    var facts: EngineFacts { base.facts }
    func open(_ configuration: StoreConfiguration) throws -> RelayedStore {
        RelayedStore(try base.open(configuration), relay)
    }
}

private final class RelayedStore: LateVersions, HarmableServer {
    private let base: PostgresStore
    private let relay: TCPRelay

    init(_ base: PostgresStore, _ relay: TCPRelay) { (self.base, self.relay) = (base, relay) }

    func restartServer() { relay.reset() }
    func cutObservers() throws { try base.cutObservers() }
    func stopListener() throws -> AnyObject { try base.stopListener() }
    func commitLarge(rows: Int) throws { try base.commitLarge(rows: rows) }

    func load(count: Int, item: (Int) -> Item) throws { try base.load(count: count, item: item) }
    func makeWriter() throws -> any StoreWriter { try base.makeWriter() }
    func subscribe(to query: Query, at site: DeliverySite, sink: any DeliverySink) throws -> any DriverSubscription {
        try base.subscribe(to: query, at: site, sink: sink)
    }
    func contents(of query: Query) throws -> [Item] { try base.contents(of: query) }
    func fileBytes() throws -> Int { try base.fileBytes() }
    func close() throws { try base.close() }

    func order(ofCommits commits: [Int64], alsoShown others: [Data]) throws -> LateOrder {
        try base.order(ofCommits: commits, alsoShown: others)
    }
    func shown() throws -> Data { try base.shown() }
    func shows(delivery: Int64, commit: Int64) -> Bool { base.shows(delivery: delivery, commit: commit) }
}
