// Tests of server faults, and of drivers with known mistakes.
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
struct PostgresFaultTests {
    private static let ways: [PostgresDriver.Way] = [.poll, .notify, .batch(everyMs: 10), .wal]

    /// Makes a spec in which each commit updates rows, whose column `stamp` then tells whether it was made.
    private static func spec(_ driver: PostgresDriver, _ kind: FaultSpec.Kind) throws -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        spec.writers.changes = ["update-score": 1]
        (spec.writers.rateHz, spec.durationNs) = (200, 1_500_000_000)
        (spec.fault.kind, spec.fault.atNs) = (kind, 300_000_000)
        return spec
    }

    /// An observer that lost the server reconnects, and no commit made meanwhile is lost.
    @Test(
        arguments: cases(
            ways.indices.flatMap { [($0, FaultSpec.Kind.serverRestarted), ($0, .connectionCut)] },
            atEveryCommit: [(1, .serverRestarted), (3, .connectionCut)]))
    func observersHearAgain(_ way: Int, _ kind: FaultSpec.Kind) throws {
        let driver = PostgresDriver(Self.ways[way])
        let result = try runTrial(try Self.spec(driver, kind), on: driver) {
            $0.fate != .completed || $0.value(.recoveryTime, "max") != nil
        }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
        #expect(result.value(.recoveryTime, "max") != nil)
    }

    /// Commits that failed during the restart are made again, once.
    @Test(.nightly) func commitsOfARestartAreMadeOnce() throws {
        let driver = PostgresDriver(.wal)
        let result = try runTrial(try Self.spec(driver, .serverRestarted), on: driver) {
            $0.fate != .completed || ($0.value(.failedCommits) ?? 0) > 0
        }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect((result.value(.failedCommits) ?? 0) > 0)
    }

    @Test(
        arguments: cases(
            [PostgresDriver.Way.notify, .wal].flatMap {
                [($0, FaultSpec.Kind.observerStopped), ($0, .largeTransaction)]
            },
            atEveryCommit: [(.notify, .observerStopped), (.wal, .largeTransaction)]))
    func whoStandsStillAndALargeTransactionAreNoHarmToOthers(
        _ way: PostgresDriver.Way, _ kind: FaultSpec.Kind
    ) throws {
        let driver = PostgresDriver(way)
        var spec = try Self.spec(driver, kind)
        // Each kind of fault reads one of these.
        (spec.fault.lengthNs, spec.fault.rows) = (200_000_000, 20_000)
        let result = try runTrial(spec, on: driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
    }

    /// Further listeners and slots on the server do not disturb the trial.
    @Test(.nightly, arguments: ways.indices) func aServerThatHasCompanyIsTheSame(_ way: Int) throws {
        let driver = PostgresDriver(Self.ways[way])
        var spec = TrialSpec.tiny(driver: driver.name)
        (spec.serverTransport, spec.serverListeners, spec.serverSlots) = (.tcp, 5, 2)
        (spec.writers.rateHz, spec.durationNs) = (400, 300_000_000)
        let result = try runTrial(spec, on: driver) { ($0.counts["commits"] ?? 0) > 10 }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.violations.isEmpty)
    }

    /// Each commit changes 1,000 rows.
    @Test func aTransactionIsSentAsAWhole() throws {
        let driver = PostgresDriver(.wal)
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        (spec.dataset.items, spec.writers.rowsPerCommit, spec.writers.changes) = (4_000, 1_000, ["update-score": 1])
        (spec.writers.rateHz, spec.durationNs) = (20, 500_000_000)
        let result = try runTrial(spec, on: driver) { $0.fate != .completed || ($0.counts["commits"] ?? 0) > 4 }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
    }

    // MARK: Commits that are durable before they are visible

    /// One writer that waits for its observers, and a standby that answers late.
    private static func standby(_ driver: PostgresDriver) throws -> TrialSpec {
        var spec = try shippedTrial("throughput/observed-writes.yaml", on: driver.name)
        (spec.writers.load, spec.writers.rateHz, spec.writers.keys) = (.lockstep, 0, .matching)
        (spec.durability, spec.serverStandbyNs) = ("full", 20_000_000)
        spec.hangTimeoutNs = 2_000_000_000
        return spec
    }

    @Test(arguments: cases([PostgresDriver.Way.notify, .wal], atEveryCommit: [.wal]))
    func aStandbyThatAnswersLateIsWaitedFor(_ way: PostgresDriver.Way) throws {
        let driver = PostgresDriver(way)
        let result = try runTrial(try Self.standby(driver), on: driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect((result.counts["commits"] ?? 0) > 1, "\(result.counts)")
    }

    /// This driver is notified of a commit, queries, and finds the old rows. It is not notified again.
    @Test func whoTakesALogForADoorbellIsCaught() throws {
        let driver = PostgresDriver(.doorbell)
        let spec = try Self.standby(driver)
        let result = try runTrial(spec, on: driver)
        #expect(result.fate == .hang, "seed \(spec.seed): \(result.fate) \(result.notes) \(result.violations)")
        #expect(result.notes.contains { $0.contains("not every observer was called") }, "\(result.notes)")
    }

    /// After a cut `lateListen` queries, delivers, and only then listens. It misses a commit made in between. The
    /// others miss none.
    @Test(
        arguments: cases(
            [(PostgresDriver.Way.lateListen, true), (.notify, false), (.wal, false)],
            atEveryCommit: [(.lateListen, true)]))
    func whoListensTooLateIsCaught(_ way: PostgresDriver.Way, isCaught: Bool) throws {
        let driver = PostgresDriver(way)
        var spec = try shippedTrial("throughput/observed-writes.yaml", on: driver.name)
        (spec.writers.load, spec.writers.rateHz, spec.writers.keys) = (.lockstep, 0, .matching)
        (spec.fault.kind, spec.fault.atNs) = (.connectionCut, 200_000_000)
        (spec.durationNs, spec.hangTimeoutNs) = (1_000_000_000, 2_000_000_000)
        // The writer may not have had CPU time between the query and the listen.
        let result = try runTrial(spec, on: driver) { !isCaught || $0.fate == .hang }
        let fate = "seed \(spec.seed): \(result.fate) \(result.notes) \(result.violations)"
        #expect(isCaught ? result.fate == .hang : result.fate == .completed, "\(fate)")
    }

    // MARK: A slot

    /// Commits between the slot and the copy are in the stream only, so they are neither lost nor sent twice.
    @Test func aStreamBeginsWhereItsCopyEnds() throws {
        try withPostgres(settings: ["wal_level=logical"]) { server in
            let schema = PostgresSchema(server.options)
            try schema.create(.wal)
            let writing = try schema.connect()
            try writing.execute("INSERT INTO item VALUES (1, 0, 1, 1)")
            let feed = try ReplicationFeed(schema)
            try writing.execute("INSERT INTO item VALUES (2, 0, 2, 2)")
            let copy = try feed.copy(over: try schema.connect())
            try feed.start()
            try writing.execute("INSERT INTO item VALUES (3, 0, 3, 3)")
            #expect(copy.items.map(\.key) == [1])
            #expect(try Self.keys(from: feed, upTo: 3) == [2, 3])
        }
    }

    private static func keys(from feed: ReplicationFeed, upTo last: Int64) throws -> [Int64] {
        let bell = try Bell()
        var keys: [Int64] = []
        while keys.last != last {
            bell.wait(orFor: feed.socket, timeoutMs: 30_000)
            let hasCome = try feed.take { if case .write(let item, _) = $0 { keys.append(item.key) } }
            try feed.answer(0)
            guard hasCome else { break }
        }
        return keys
    }

    /// The slot does not retain data that the feed has taken.
    @Test func theServerIsToldWhatWasTaken() throws {
        try withPostgres(settings: ["wal_level=logical"]) { server in
            let schema = PostgresSchema(server.options)
            try schema.create(.wal)
            let writing = try schema.connect()
            let feed = try ReplicationFeed(schema)
            try feed.start()
            try writing.execute("INSERT INTO item VALUES (1, 0, 1, 1)")
            #expect(try Self.keys(from: feed, upTo: 1) == [1])
            _ = try feed.take { _ in }
            try feed.answer(0)
            let confirmed = """
                SELECT pg_wal_lsn_diff(confirmed_flush_lsn, '0/0')::bigint FROM pg_replication_slots
                """
            var position: Int64 = 0
            for _ in 0..<1_000 where LogPosition(position) < feed.received {
                position = try writing.run(confirmed).integer(0, 0)
                // The server processes the confirmation when it sends something, or when it is queried.
                try writing.execute("SELECT pg_sleep(0.01)")
            }
            #expect(feed.received > 0 && LogPosition(position) >= feed.received)
        }
    }
}
