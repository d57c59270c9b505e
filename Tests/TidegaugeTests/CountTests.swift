import Foundation
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugePostgresDriver

@testable import TidegaugeRun
@testable import TidegaugeSpec
@testable import TidegaugeTrial

@Suite("Counted figures")
struct CountTests {
    private func account(affecting: Int) -> CountAccount {
        var account = CountAccount(counter: .callgrind, commits: 100, affectingCommits: affecting, rests: 10)
        account.inCommits = [
            "writer": .init(instructions: 50_000, allocations: 400, systemCalls: 900),
            "upkeep": .init(instructions: 80_000, allocations: 100, systemCalls: nil),
        ]
        account.atRest = ["writer": .init(instructions: 1_000, allocations: 0, systemCalls: 20)]
        return account
    }

    @Test("excludes the cost of idle iterations, and is per commit that affects an observer")
    func perCommit() {
        // 50,000 minus 100 idle iterations of 100 each.
        #expect(account(affecting: 100).perCommit([.writer]) { $0.instructions } == 400)
        #expect(account(affecting: 50).perCommit([.writer]) { $0.instructions } == 800)
        #expect(account(affecting: 0).perCommit([.writer]) { $0.instructions } == 400)
        #expect(account(affecting: 100).perCommit([.writer, .upkeep]) { $0.instructions } == 1_200)
        #expect(account(affecting: 100).perCommit([.writer]) { $0.systemCalls } == 7)
    }

    @Test("is unknown without a counter, or without a thread of the role")
    func unknown() {
        #expect(account(affecting: 1).perCommit([.upkeep]) { $0.systemCalls } == nil)
        #expect(account(affecting: 1).perCommit([.observer]) { $0.instructions } == nil)
    }

    @Test("is what the child saw and what callgrind did, of threads that did nothing too")
    func joined() {
        var account = CountAccount(counter: .callgrind, commits: 10, affectingCommits: 10, rests: 10)
        account.inCommits = ["writer": .init(), "other": .init()]
        account.add(
            inCommits: ["writer": .init(instructions: 900, allocations: 40, systemCalls: 20, reads: 30)],
            atRest: ["writer": .init(instructions: 100, allocations: 0, systemCalls: 0, reads: 0)])
        #expect(account.perCommit([.writer]) { $0.instructions } == 80)
        #expect(account.perCommit([.writer, .other]) { $0.allocations } == 4)
        let later = CountAccount.Amounts(instructions: 7, reads: 9)
        #expect(later.since(.init(instructions: 5, reads: 4)) == .init(instructions: 2, reads: 5))
        #expect(later.since(nil) == later)
    }

    @Test("is read by the labels of dumps, without what the tables of the runtime take to find")
    func dumps() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidegauge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let find = "swift::ConcurrentReadableHashMap<swift::Entry, swift::Mutex>::find"
        func dump(_ trigger: String, thread: Int, _ costs: [(String, Int)], calls: String = "") throws {
            let functions = costs.map { "fn=\($0.0)\n0 \($0.1)\n" }.joined()
            let text = """
                version: 1
                thread: \(thread)
                desc: Trigger: \(trigger)
                positions: line
                events: Ir
                \(functions)\(calls)totals: \(costs.reduce(0) { $0 + $1.1 })

                """
            let name = "callgrind.out.\(trigger.count)-0\(thread)"
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        try dump("Client Request: roles", thread: 2, [(Callgrind.function(of: .upkeep), 9)])
        try dump("Client Request: rest", thread: 2, [("turn", 40), (find, 3)])
        try dump(
            "Client Request: commits", thread: 2, [("step", 700), (find, 55)],
            calls: "fn=step\ncfn=mdb_get\ncalls=4 0\n0 30\ncfn=malloc\ncalls=2 0\n0 20\n")
        try dump("Program termination", thread: 2, [("step", 9_999)])
        let counts = try CallgrindChild.counts(in: folder.path)
        #expect(counts.atRest["upkeep"]?.instructions == 40 && counts.inCommits["upkeep"]?.instructions == 700)
        #expect(counts.inCommits["upkeep"]?.reads == 4 && counts.inCommits["upkeep"]?.allocations == 2)
        #expect(counts.inCommits.keys.sorted() == ["upkeep"] && counts.profiles[.upkeep]?.total == 700)
    }

    @Test("A timed trial has a counted one beside it where it is asked for counts, and its figures")
    func companion() throws {
        var spec = TrialSpec.tiny()
        spec.measure = [Metric.writerInstructions.rawValue]
        let group = TrialGroup(spec, counter: .callgrind, beside: nil)
        #expect(group.members.map(\.role) == [.measured, .counted])
        #expect(group.members[1].spec.count?.counter == "callgrind")
        #expect(TrialGroup(spec, beside: nil).members.map(\.role) == [.measured])
        spec.trial = 1
        #expect(TrialGroup(spec, counter: .callgrind, beside: nil).members.map(\.role) == [.measured])
        var counted = TrialResult(fate: .completed)
        counted.count = account(affecting: 100)
        let figures = GroupFigures(group, TrialResult(fate: .completed), beside: [.counted: counted]).figures()
        let figure = try #require(figures.first { $0.metric == .writerInstructions })
        #expect(figure.value == 400 && figure.flags == [.counted(by: .callgrind)])
        // Only the first trial reports that nothing was counted.
        func without(trial: Int) -> [Figure] {
            spec.trial = trial
            let group = TrialGroup(spec, beside: nil)
            return GroupFigures(group, TrialResult(fate: .completed), beside: [:]).figures()
                .filter { $0.metric == .writerInstructions }
        }
        #expect(without(trial: 1).isEmpty)
        #expect(without(trial: 0).map(\.flags) == [[.notCounted]] && without(trial: 0)[0].value == nil)
    }

    @Test("A trial whose driver has no counted form runs without a counted one beside it")
    func noCompanion() {
        var spec = TrialSpec.tiny()
        spec.measure = [Metric.writerInstructions.rawValue]
        func roles(_ capabilities: Capabilities) -> [TrialGroup.Role] {
            TrialGroup(spec, counter: .callgrind, beside: nil, capabilities: capabilities).members.map(\.role)
        }
        #expect(roles(ModelDriver().capabilities) == [.measured, .counted])
        #expect(roles(PostgresDriver(.notify).capabilities) == [.measured])
    }

    @Test("A counted trial makes the same commits, and has nothing that goes by a clock")
    func spec() throws {
        var spec = TrialSpec.tiny()
        spec.writers.load = .open
        (spec.durationNs, spec.warmUpNs) = (1, 1)
        let counted = spec.counted(by: "callgrind")
        #expect(counted.countObstacle == nil)
        #expect(counted.writers.load == .closed && counted.durationNs == 0 && counted.warmUpNs == 0)
        #expect(counted.writers.changes == spec.writers.changes && counted.seed == spec.seed)
        let overSweeps: Set<Metric> = [.instructionsExponent, .instructionsGrowth]
        #expect(overSweeps.isSubset(of: counted.metrics))
        #expect(counted.metrics.allSatisfy { $0.isOfCountedTrial || overSweeps.contains($0) })
        spec.fault.kind = .stall
        #expect(spec.countObstacle != nil)
        #expect(spec.counted(by: "callgrind", commits: 3).count?.commits == 3)
        #expect(spec.counted(by: "callgrind", commits: 3).count?.warmUpCommits == 1)
        // Large commits, many observers and long lists reduce the number of counted commits.
        for (rows, observers, items, commits) in [
            (1, 1, 0, 200), (100, 1, 0, 20), (1_000, 1, 0, 3), (10_000, 0, 0, 3), (1, 99, 0, 40), (1, 1, 98, 40),
        ] {
            spec.writers.rowsPerCommit = rows
            spec.observers.count = observers
            if items > 0 { (spec.observers.sort, spec.dataset.items) = (.list, items) }
            let count = try #require(spec.counted(by: "callgrind").count)
            #expect(count.commits == commits && count.warmUpCommits == max(1, commits / 5))
        }
    }
}
