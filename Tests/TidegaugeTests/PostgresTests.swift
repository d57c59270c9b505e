// Trials on a PostgreSQL server of their own. They are skipped with a reason if this machine has none.
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeTrial

@testable import TidegaugePostgresDriver
@testable import TidegaugeSpec

/// The reason why there is no server, or nil.
let missingPostgres: String? = {
    do {
        _ = try PostgresServer.programs()
        return nil
    } catch { return "\(error)" }
}()

/// Runs `body` with a server of its own, in a folder that is removed afterwards.
func withPostgres(
    _ durability: DurabilityLevel = .memory, over transport: ServerConfiguration.Transport = .unix,
    settings: [String] = [], _ body: (PostgresServer) throws -> Void
) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidegauge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try PostgresServer(in: folder.path, durability, over: transport, settings: settings)
    defer { server.stop() }
    try body(server)
}

extension PostgresServer {
    /// Returns the address in the form of the key `server.url`.
    func url() throws -> String {
        "postgresql://tidegauge@/postgres?host=\(try #require(options.first { $0.0 == "host" }).1)"
    }
}

@Suite(
    .serialized, .onThreads,
    .enabled(if: missingPostgres == nil, "no PostgreSQL server: `make servers` installs it"))
struct PostgresTests {
    private static let ways: [PostgresDriver.Way] = [.poll, .notify, .wal]
    private static let indexOfWal = PostgresDriver.Way.all.firstIndex(of: .wal)!

    /// Several writers, commits of one and two rows, inserted and deleted rows, and observers of ranges on two threads.
    @Test(
        arguments: cases(
            ways.indices.flatMap { [($0, 1), ($0, 2)] }, atEveryCommit: [(0, 2), (1, 1), (2, 2)]))
    func theOracleIsSatisfied(_ way: Int, rowsPerCommit: Int) throws {
        let driver = PostgresDriver(Self.ways[way])
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        spec.writers.threads = 4
        spec.writers.rowsPerCommit = rowsPerCommit
        spec.writers.rateHz = 400
        spec.durationNs = 500_000_000
        (spec.observers.count, spec.observers.threads, spec.observers.queries) = (4, 2, .ranges)
        let result = try runTrial(spec, on: driver) { ($0.counts["commits"] ?? 0) > 50 }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect(result.violations.isEmpty, "\(result.violations)")
        #expect(result.value(.missedFinal) == 0)
        #expect((result.counts["row_samples"] ?? 0) > 0, "\(result.counts)")
    }

    /// A writer in lockstep checks continuously whether deliveries cover its last commit.
    @Test func aWriterThatWaitsForItsObserversGoesOn() throws {
        let driver = PostgresDriver(.notify)
        var spec = try shippedTrial("throughput/observed-writes.yaml", on: driver.name)
        (spec.writers.load, spec.writers.rateHz, spec.writers.keys) = (.lockstep, 0, .matching)
        let result = try runTrial(spec, on: driver) { ($0.counts["commits"] ?? 0) > 1 }
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        #expect((result.counts["commits"] ?? 0) > 1, "\(result.counts)")
    }

    /// Over TCP, with a password made for one trial, of which the server keeps a hash. What a store opened by the
    /// address writes is in the first store, and remains when the second one is closed.
    @Test func aStoreIsOpenedByItsAddress() throws {
        let folder = try PrivateFolder()
        defer { folder.remove() }
        var configuration = StoreConfiguration(directory: folder.path, durability: .relaxed)
        // Another address of the loopback interface. The server listens on 127.0.0.1 in any case.
        (configuration.server.transport, configuration.server.reachedAt) = (.tcp, "127.0.0.2")
        configuration.server.guests = 1
        let driver = PostgresDriver(.notify)
        let store = try driver.open(configuration)
        defer { #expect(throws: Never.self) { try store.close() } }
        try store.load(count: 3) { Item(key: Int64($0), group: 0, score: Int64($0), stamp: 0) }
        var asking = StoreConfiguration(directory: "/nowhere", durability: .relaxed)
        asking.address = store.address
        asking.secret = try #require(store.secret)
        #expect(!store.address.contains(try #require(asking.secret)))
        let asked = try PostgresSchema(at: store.address, password: asking.secret).connect()
        let rules = try asked.run(
            """
            SELECT string_agg(DISTINCT address || ' ' || auth_method, ', ') FROM pg_hba_file_rules WHERE type = 'host'
            """)
        #expect(rules.text(0, 0) == "127.0.0.1 trust, ::1 trust, all scram-sha-256")
        let kept = try asked.run("SELECT left(rolpassword, 13) FROM pg_authid WHERE rolname = current_user")
        #expect(kept.text(0, 0) == "SCRAM-SHA-256")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/password"))
        let guest = try driver.open(asking)
        let writer = try guest.makeWriter()
        let change = Change(.updateScore, Item(key: 1, group: 0, score: 7, stamp: 5))
        let token = try [change].withUnsafeBufferPointer { try writer.commit($0, locked: {}) }
        #expect(token != nil && guest.serverCPU() == nil)
        #expect((store.serverCPU()?["writer"] ?? 0) > 0)
        try guest.close()
        #expect(try store.contents(of: Query()).contains { $0.key == 1 && $0.score == 7 })
    }

    /// A process that cannot reach the server gets a reason.
    @Test(arguments: ProcessPlace.allCases) func whoCannotReachAServerIsTold(_ place: ProcessPlace) {
        var asked = ServerConfiguration()
        #expect((PostgresStore.obstacle(asked, from: place) == nil) == (place != .otherMachine))
        asked.transport = .tcp
        #expect((PostgresStore.obstacle(asked, from: place) == nil) == (place == .near))
        asked.reachedAt = "10.0.0.1"
        #expect(PostgresStore.obstacle(asked, from: place) == nil)
        (asked.reachedAt, asked.url) = (nil, "postgresql://db.example/postgres")
        #expect(PostgresStore.obstacle(asked, from: place) == nil)
    }

    /// The server's CPU time is part of the store's.
    @Test func theServersTimeIsCounted() throws {
        let driver = PostgresDriver(.notify)
        var spec = TrialSpec.tiny(driver: driver.name)
        spec.durationNs = 500_000_000
        let result = try runTrial(spec, on: driver)
        #expect(result.fate == .completed, "\(result.fate) \(result.notes) \(result.violations)")
        let parts = result.counts.filter { $0.key.hasPrefix("server_cpu_ns.") }
        for kind in ["writer", "watcher"] { #expect((parts["server_cpu_ns.\(kind)"] ?? 0) > 0, "\(parts)") }
        #expect(parts.keys.contains("server_cpu_ns.walwriter"), "\(parts)")
        let cpu = try #require(result.cpu)
        #expect(Int(cpu.processNs) >= parts.values.reduce(0, +), "\(parts) of \(cpu)")
    }

    /// A server has the settings of its durability level, and its process ends when it is stopped.
    @Test(arguments: cases(DurabilityLevel.allCases, atEveryCommit: [.relaxed]))
    func aServerEndsWithItsStore(_ durability: DurabilityLevel) throws {
        var process: Int32 = 0
        try withPostgres(durability) { server in
            process = server.process
            let connection = try PostgresConnection(server.options)
            let asked = try connection.run("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
            let expected = [DurabilityLevel.full: "on on", .relaxed: "on off", .memory: "off off"]
            #expect("\(asked.text(0, 0)) \(asked.text(0, 1))" == expected[durability])
        }
        #expect(kill(process, 0) != 0)
    }

    /// The outbox numbers rows before their commit. If one commit overtakes another, a query by number in between
    /// misses the rows of the later one.
    @Test func anOutboxThatIsAskedByNumberIsCaught() throws {
        let driver = PostgresDriver(.outbox)
        var spec = TrialSpec.tiny(driver: driver.name, seed: testSeeds(1)[0])
        (spec.writers.threads, spec.writers.load, spec.writers.rateHz) = (4, .closed, 0)
        spec.writers.rowsPerCommit = 1
        spec.durationNs = 300_000_000
        let result = try runTrial(spec, on: driver) { $0.fate != .completed }
        #expect(result.fate == .oracleViolation, "seed \(spec.seed): \(result.fate) \(result.notes)")
        let words = ["shown rows", "convergence"]
        #expect(
            result.violations.contains { text in words.contains { text.hasPrefix($0) } }, "\(result.violations)")
    }

    /// On an existing server, a dump is the same before and after, and no slot remains.
    @Test(arguments: cases(Array(PostgresDriver.Way.all.indices), atEveryCommit: [indexOfWal]))
    func aServerOfOthersIsLeftAsItWas(_ way: Int) throws {
        let driver = PostgresDriver(PostgresDriver.Way.all[way])
        try withPostgres(settings: ["wal_level=logical"]) { server in
            try PostgresConnection(server.options).execute(
                """
                CREATE SCHEMA theirs; CREATE TABLE theirs.item (key bigint PRIMARY KEY, words text);
                INSERT INTO theirs.item SELECT n, 'row ' || n FROM generate_series(1, 1000) AS n;
                CREATE TABLE item (key bigint); INSERT INTO item VALUES (1);
                CREATE PUBLICATION theirs FOR TABLE theirs.item;
                """)
            let url = try server.url()
            let before = try Self.dump(url)
            #expect(before.contains("row 1000"))
            var spec = TrialSpec.tiny(driver: driver.name)
            (spec.serverURL, spec.durationNs) = (url, 100_000_000)
            let result = try runTrial(spec, on: driver)
            // Some of the drivers are wrong on purpose and may be caught.
            #expect([.completed, .oracleViolation].contains(result.fate), "\(result.fate) \(result.notes)")
            #expect((result.counts["commits"] ?? 0) > 0)
            #expect(
                result.counts.keys.allSatisfy { !$0.hasPrefix("server_cpu_ns") },
                "the CPU time of an existing server is not counted")
            #expect(try Self.dump(url) == before)
            let left = try PostgresConnection(server.options).run("SELECT count(*) FROM pg_replication_slots")
            #expect(left.integer(0, 0) == 0)
        }
    }

    private static func dump(_ url: String) throws -> String {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        program.arguments = ["PATH=\(try PostgresServer.programs()):\(path)", "pg_dump", url]
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0)
        // These lines contain a random number.
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.contains("restrict ") }.joined(separator: "\n")
    }

    /// Nothing is created before all requirements were checked.
    @Test func aServerWithoutALogicalLogIsRefused() throws {
        try withPostgres { server in
            var spec = TrialSpec.tiny(driver: "postgres-wal")
            spec.serverURL = try server.url()
            let result = try runTrial(spec, on: PostgresDriver(.wal))
            #expect(result.isUnavailable, "\(result.fate)")
            #expect(result.notes.contains { $0.contains("wal_level = logical") }, "\(result.notes)")
            let schemas = try PostgresConnection(server.options).run(
                "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'tidegauge%'")
            #expect(schemas.integer(0, 0) == 0)
        }
    }

    @Test func anErrorOfTheServerHasItsState() throws {
        try withPostgres { server in try self.errorsHaveStates(try PostgresConnection(server.options)) }
    }

    private func errorsHaveStates(_ connection: PostgresConnection) throws {
        func state(_ body: () throws -> Void) -> String? {
            do {
                try body()
                return nil
            } catch { return (error as? PostgresError)?.sqlState }
        }
        #expect(state { _ = try connection.run("SELECT 1 FROM nowhere") } == "42P01")
        #expect(state { _ = try connection.run("SELECT 1 / $1::bigint", [0]) } == "22012")
        #expect(
            state { _ = try connection.pipeline([("SELECT 1", []), ("SELECT 1 / $1::bigint", [0])]) } == "22012")
        // The connection is usable afterwards.
        #expect(try connection.pipeline([("SELECT $1::bigint", [-7]), ("SELECT 1", [])])[0].integer(0, 0) == -7)
    }
}
