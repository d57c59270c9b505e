// Tests of recorded workloads.
import Foundation
import StillingWell
import StillingWellSeededRandom
import StillingWellSync
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeSQLiteHooksDriver
import TidegaugeStillingWellDriver
import TidegaugeTrial

@testable import TidegaugeScenario
@testable import TidegaugeSpec
@testable import TidegaugeTrialRunner

private final class Card: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored var rank = 0
    @Stored var text = ""
}

@Suite(.serialized, .onThreads) struct WorkloadTests {
    // MARK: From a store to a workload

    /// Kinds of operations, without row numbers.
    private func kinds(_ commits: [[WorkloadSpec.Operation]]) -> [[String]] { commits.map { $0.map(\.kind.rawValue) } }

    @Test func whatIsRecordedIsWhatWasDone() throws {
        for seed in testSeeds(4) {
            var random = SeededRandom(seed: seed)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("workload-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let store = try Store(
                .init(path: folder.path + "/store", models: [Card.self], durability: .memory))
            try store.write { connection in
                for key in 0..<5 {
                    let card = Card()
                    card.key = key
                    try connection.add(card)
                }
            }
            let recorder = try store.record(to: folder.path + "/trace.txt")
            let thread = RunLoopThread("recorded")
            defer { thread.stop() }
            // Used on the thread only.
            nonisolated(unsafe) var token: NotificationToken?
            try thread.performAndWait {
                let connection = try store.connect(on: .runLoop)
                token = try connection.objects(Card.self).sorted(by: \.rank).observe { _ in }
            }
            var keys = Array(0..<5)
            var next = 5
            var done: [[String]] = []
            for _ in 0..<40 {
                var commit: [String] = []
                try store.write { connection in
                    // Each row at most once, because several setters of one row are one operation or more.
                    var rest = keys.shuffled(using: &random)
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let which = Int.random(in: 0..<4, using: &random)
                        guard which > 0, let key = rest.popLast() else {
                            let card = Card()
                            card.key = next
                            try connection.add(card)
                            keys.append(next)
                            next += 1
                            commit.append("insert")
                            continue
                        }
                        let card = try #require(try connection.object(Card.self, forPrimaryKey: key))
                        switch which {
                        case 1:
                            keys.removeAll { $0 == key }
                            try connection.delete(card)
                            commit.append("delete")
                        case 2:
                            card.rank += 1
                            commit.append("move")
                        default:
                            card.text += "x"
                            commit.append("touch")
                        }
                    }
                }
                done.append(commit)
            }
            try thread.performAndWait { token?.invalidate() }
            try recorder.end()
            let trace = try Trace(Array(Data(contentsOf: folder.appendingPathComponent("trace.txt"))))
            let workload = try #require(trace.workload)
            #expect(kinds(workload.commits) == done, "TIDEGAUGE_SEED=\(seed)")
            #expect(workload.rows == [5] && workload.lasting.count == 1 && workload.passing.isEmpty)
        }
    }

    // MARK: From a workload to a trial

    /// Makes commits of all kinds on two tables, and queries of which one lasts.
    private func trace(_ random: inout SeededRandom) -> String {
        var lines = ["0 holds A 20", "0 holds B 4", "0 subscribe 1 A filter=x sort=-x", "0 found 1 10"]
        var rows: [String: [String]] = ["A": [], "B": []]
        var next = 0
        for commit in 0..<60 {
            let time = String(format: "%.3f", 0.002 * Double(commit + 1))
            if commit % 10 == 3 { lines.append("\(time) subscribe q\(commit) B sort=x") }
            if commit % 10 == 8 { lines.append("\(time) drop q\(commit - 5)") }
            let count = Int.random(in: 1...3, using: &random)
            lines.append("\(time) commit \(count)")
            for _ in 0..<count {
                let table = Bool.random(using: &random) ? "A" : "B"
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where !rows[table]!.isEmpty: lines.append(" delete \(table) \(rows[table]!.removeLast())")
                case 1 where !rows[table]!.isEmpty:
                    lines.append(
                        " update \(table) \(rows[table]!.randomElement(using: &random)!) \(Bool.random(using: &random) ? "x" : "y")"
                    )
                default:
                    rows[table]!.append("\(next)")
                    lines.append(" insert \(table) \(next)")
                    next += 1
                }
            }
        }
        return (lines + ["0.2 end"]).joined(separator: "\n")
    }

    private func spec(_ trace: String, _ driver: String, _ seed: UInt64) throws -> TrialSpec {
        var spec = TrialSpec.tiny(driver: driver, seed: seed)
        spec.writers = .init(
            threads: 1, load: .open, arrivals: .trace, changes: ["touch": 1], rowsPerCommit: 1, keys: .uniform)
        (spec.warmUpNs, spec.durationNs) = (20_000_000, 180_000_000)
        spec.observers.idleQueries = 0
        spec.follow(try Trace(Array(trace.utf8)))
        return spec
    }

    @Test func enginesComeThroughAndMakeEveryCommit() throws {
        let drivers: [any StoreDriver] = [ModelDriver(), StillingWellDriver(), SQLiteHooksDriver()]
        for (driver, seed) in zip(drivers, testSeeds(drivers.count)) {
            var random = SeededRandom(seed: seed)
            let spec = try spec(trace(&random), driver.name, seed)
            let result = try runTrial(spec, on: driver)
            #expect(
                result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations) TIDEGAUGE_SEED=\(seed)"
            )
            #expect(result.counts["passing_queries"] == 6, "\(driver.name): \(result.counts)")
            #expect(result.value(.missedFinal) == 0)
        }
    }

    /// Queries of an application with a search field. Each is measured while it lives, though none spans the load.
    @Test(arguments: ["model", "stillingwell"]) func queriesThatComeAndGoAreMeasured(driver: String) throws {
        var lines = ["0 holds A 20"]
        for commit in 0..<90 {
            let time = String(format: "%.3f", 0.022 + 0.002 * Double(commit))
            if commit % 30 == 2 { lines.append("\(time) subscribe q\(commit) A sort=x") }
            if commit % 30 == 27 { lines.append("\(time) drop q\(commit - 25)") }
            lines += ["\(time) commit 1", " insert A \(commit)"]
        }
        let text = (lines + ["0.210 end"]).joined(separator: "\n")
        var spec = try spec(text, driver, testSeeds(1)[0])
        spec.durationNs = 190_000_000
        #expect(spec.observers.count == 0 && spec.workload?.passing.count == 3)
        let engines: [any StoreDriver] = [ModelDriver(), StillingWellDriver()]
        let engine = try #require(engines.first { $0.name == driver })
        let result = try runTrial(spec, on: engine)
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        let count = try #require(result.value(.endToEndLatency, "count"))
        // Each query lives for 25 commits. Those due before its first delivery are not counted.
        #expect(count > 0 && count <= 3 * 25, "\(count)")
        #expect(try #require(result.value(.deliveryLatency, "max")) > 0)
    }

    /// By hand: the covering callback of each commit, and the commits not delivered before the end.
    @Test func aPassingQueryIsMeasuredBetweenItsFirstDeliveryAndItsEnd() throws {
        var spec = TrialSpec.tiny()
        (spec.warmUpNs, spec.durationNs) = (0, 1_000_000)
        (spec.writers.threads, spec.observers.idleQueries, spec.observers.count) = (1, 0, 1)
        let dataset = Dataset(spec)
        let plan = QueryAssignment(spec)
        let records = (0..<10).map { place in
            let dueNs = 100_000 * Int64(place)
            return CommitRecord(
                dueNs: dueNs, beginNs: dueNs, lockedNs: dueNs, committedNs: dueNs + 10, version: Int64(place + 1))
        }
        spec.writers.keys = .matching
        let history = History(spec: spec, dataset: dataset, plan: plan, writers: [records])
        let affecting = Set(history.queries[0].commits)
        var pairs = PairFigures(history, Window(startNs: 0, endNs: 1_000_000), endNs: 2_000_000)
        pairs.add(
            PassingLog(
                query: plan.queries[0],
                callbacks: [
                    .init(enterNs: 250_000, version: 3), .init(enterNs: 350_000, version: 4),
                    .init(enterNs: 560_000, version: 6),
                ], endNs: 750_000), query: 0)
        // Due at 300, 400, 500, 600 and 700 µs: covered after 50, 160 and 60 µs, and two not before the end.
        let due = (3...7).filter { affecting.contains(Int32($0)) }
        #expect(pairs.pairs == due.count && pairs.endToEnd.censoredCount == due.filter { $0 > 5 }.count)
        if due.contains(4) { #expect(pairs.endToEnd.max == 160_000) }
    }

    @Test func commitsAreTheRecordedOnes() throws {
        let seed = testSeeds(1)[0]
        var random = SeededRandom(seed: seed)
        let spec = try spec(trace(&random), "model", seed)
        let workload = try #require(spec.workload)
        let dataset = Dataset(spec)
        let plan = QueryAssignment(spec)
        var generator = ChangeGenerator(spec, dataset: dataset, shared: plan.shared, writer: 0)
        let changes = UnsafeMutableBufferPointer<Change>.allocate(capacity: generator.count)
        defer { changes.deallocate() }
        for operations in workload.commits {
            let commit = generator.fill(changes)
            #expect(commit.count == operations.count)
            for (change, operation) in zip(commit, operations) {
                let kind: [WorkloadSpec.Operation.Kind: Change.Operation] = [
                    .insert: .insert, .delete: .delete, .move: .updateScore, .touch: .touch,
                ]
                #expect(change.operation == kind[operation.kind])
                // Existing rows keep their keys, and new rows follow all keys of the dataset.
                let isNew = operation.row >= workload.rowCount
                #expect(isNew ? change.item.key >= Int64(dataset.count) : change.item.key == Int64(operation.row))
                guard operation.kind == .insert || operation.kind == .move else { continue }
                let table = workload.query(.init(table: operation.table, share: 1, fromNs: 0))
                #expect(table.scores!.contains(change.item.score), "a row leaves its table")
            }
        }
        // About the share of the table's rows that the recorded query found.
        let watched = plan.queries[0]
        let found = (0..<dataset.items).count { watched.scores!.contains(dataset.item(at: $0).score) }
        // All passing queries are the same.
        #expect(plan.queries.count == 2 && plan.mainObservers == 1 && Set(plan.queryOfObserver) == [0])
        #expect((12...28).contains(found), "\(found) of some 40, TIDEGAUGE_SEED=\(seed)")
    }

    // MARK: Queries that end before the trial

    /// The calls to a store in order, and further notes.
    private final class Diary: Sendable {
        let lines = Guarded<[String]>("diary", [])

        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private final class NotingStore: RowlessStore {
        let diary: Diary

        init(_ diary: Diary) { self.diary = diary }

        private final class Subscription: DriverSubscription {
            let (diary, table): (Diary, Int64)

            init(_ diary: Diary, _ table: Int64) { (self.diary, self.table) = (diary, table) }

            func cancel() { diary.note("cancel \(table)") }
            func currentItems() -> [Item] { [] }
        }

        func load(count: Int, item: (Int) -> Item) {}
        func makeWriter() -> any StoreWriter { CommittingWriter { _, _ in nil } }
        func subscribe(
            to query: Query, at site: DeliverySite, sink: any DeliverySink
        ) -> any DriverSubscription {
            let table = query.scores!.lowerBound >> 62
            diary.note("subscribe \(table)")
            sink.deliver(Delivery(version: 1, isInitial: true, count: 0))
            return Subscription(diary, table)
        }
        func fileBytes() -> Int { 0 }
        func close() {}
    }

    @Test func eachIsSubscribedAndDroppedAtItsTime() throws {
        var workload = WorkloadSpec()
        workload.rows = [1, 1]
        workload.passing = [
            .init(table: 0, share: 1, fromNs: 30, untilNs: 50), .init(table: 1, share: 1, fromNs: 50, untilNs: 400),
            .init(table: 0, share: 1, fromNs: 60, untilNs: 120), .init(table: 1, share: 1, fromNs: 300, untilNs: nil),
        ]
        var spec = TrialSpec.tiny()
        (spec.warmUpNs, spec.durationNs) = (100, 100)
        let diary = Diary()
        let passing = PassingQueries(workload, spec, NotingStore(diary)) { diary.note("at \($0)") }
        try passing.run(from: 1_000)
        // At one time, ends come before starts. Actions due after the load are not done.
        #expect(
            diary.lines.withLock { $0 } == [
                "at 1030", "subscribe 0", "at 1050", "cancel 0", "at 1050", "subscribe 1", "at 1060", "subscribe 0",
                "at 1120", "cancel 0",
            ])
        try passing.cancel()
        #expect(diary.lines.withLock { $0.last } == "cancel 1")
    }
}
