// Tests of the order of pairs in a budget.
import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeSpec
import TidegaugeStatistics

@testable import TidegaugeCompare

@Suite("The order of pairs in a budget")
struct ClockOrderTests {
    private let quiet = Truth(sigma: 0.003)
    private let wild = Truth(sigma: 0.3)
    private let told = FigureName("upkeep_cpu", "value")

    private func row(_ subject: Int, _ variant: String = "", base: Double = 1_000, head: Double = 1_000) -> CountedRow {
        CountedRow(
            scenario: "s\(subject)", driver: "model", variant: variant, metric: .upkeepInstructions,
            counter: "callgrind", base: base, again: base, head: head)
    }

    @Test("Counts tell of CPU, at all points and with a verdict; never of waiting, bytes or events")
    func whatCountsTell() {
        let world = World(
            [
                Truth(gate: told), Truth(gate: told, points: ["a", "b"]), Truth(gate: FigureName("lock_wait", "p50")),
                Truth(gate: FigureName("write_service_time", "p50")), Truth(gate: FigureName("file_bytes", "value")),
                Truth(gate: FigureName("of_another_binary", "value")),
            ], seed: 1)
        let subjects = world.plan().subjects
        func tells(_ index: Int, _ rows: [CountedRow]) -> Bool { subjects[index].isTold(by: rows) }
        #expect(tells(0, [row(0)]) && tells(0, [row(0, head: 1_100)]))
        #expect(!tells(0, []) && !tells(0, [row(1)]) && !tells(0, [row(0, base: 0)]))
        #expect(tells(1, [row(1, "a"), row(1, "b")]) && !tells(1, [row(1, "a")]))
        #expect(!tells(1, [row(1, "a"), row(1, "b"), row(1, "b", base: 0)]), "one of its roles cannot be told")
        for index in 2...5 { #expect(!tells(index, [row(index)]), "\(subjects[index].gate)") }
    }

    @Test("A scenario decided by counts comes after all that only measured times can decide")
    func toldComeLast() {
        let tellable = Truth(gate: told)
        var withoutPair: [ComparisonEngine] = []
        for budget in stride(from: 5.0, through: 120, by: 5) {
            var world = World([tellable, wild, wild], seed: 1)
            let engine = world.compare(world.plan(budget: budget), counted: [row(0)])
            if engine.tracks[0].attempts == 0 { withoutPair.append(engine) }
            let isLast = engine.tracks[1].attempts > 5 && engine.tracks[2].attempts > 5
            #expect(engine.tracks[0].attempts == 0 || isLast, "budget \(budget)")
        }
        for engine in withoutPair {
            let gate = Judge(engine).rows()[0]
            #expect(gate.verdict == .inconclusive && gate.remark.hasPrefix("counts tell it: no pair was run"))
        }
        #expect(withoutPair.contains { $0.tracks[1].attempts > 1 })
        var world = World([tellable, quiet, quiet], seed: 1)
        let engine = world.compare(world.plan(budget: 120), counted: [row(0)])
        #expect(engine.tracks[0].screen.count >= 8, "it keeps its clock gate")
    }

    @Test("Whether counts have decided all scenarios or none, the gates get the same states")
    func allOrNone() {
        func records(_ counted: [CountedRow]) -> [GateTrack.State] {
            var world = World([Truth(gate: told), Truth(effect: 0.1, gate: told)], seed: 4)
            return world.compare(world.plan(budget: 100), counted: counted).tracks.map(\.state)
        }
        #expect(records([]) == records([row(0), row(1)]))
    }

    @Test("After the first pairs of all gates, those that look worse get more pairs than the others")
    func worstFirst() {
        var more = 0
        for seed in UInt64(0)..<20 {
            let others = Array(repeating: Truth(sigma: 0.2), count: 9)
            var world = World([Truth(effect: 0.3, sigma: 0.2)] + others, seed: seed)
            let engine = world.compare(world.plan(budget: 130, seed: seed))
            if Double(engine.tracks[0].attempts) > mean(engine.tracks.dropFirst().map { Double($0.attempts) })! {
                more += 1
            }
        }
        #expect(more >= 18, "\(more) of 20")
    }

    @Test("Time for confirming is reserved before every gate has had a pair")
    func setAside() {
        let grave = Truth(effect: log(8.81), sigma: 0.45)
        var tried = 0
        for seed in UInt64(0)..<20 {
            // The first pairs of forty gates would take more than the 30 s.
            var world = World([grave] + Array(repeating: Truth(), count: 39), seed: seed)
            let engine = world.compare(world.plan(budget: 30, seed: seed))
            #expect(engine.spentSeconds <= 31)
            let isTried = engine.tracks[0].attempts > 0
            #expect((engine.tracks[0].state == .confirmed) == isTried, "seed \(seed)")
            if isTried { tried += 1 }
        }
        #expect(tried > 0)
    }

    @Test("A comparison without suspicions spends its whole budget on undecided gates")
    func nothingIsLeft() {
        var world = World(Array(repeating: wild, count: 5), seed: 2)
        #expect(world.compare(world.plan(budget: 100)).spentSeconds >= 99)
    }

    @Test("Every budget is kept, gates in front get their pairs first, and a journal replays to the same order")
    func anyWorld() {
        var random = SeededRandom(seed: 14)
        for seed in UInt64(0)..<60 {
            let truths = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Truth(
                    effect: [0, 0, 0.05, 0.3].randomElement(using: &random)!,
                    sigma: .random(in: 0.005...0.3, using: &random),
                    voidShare: [0, 0.2].randomElement(using: &random)!, seconds: .random(in: 0.5...4, using: &random),
                    gate: Bool.random(using: &random) ? told : FigureName("write_service_time", "p50"))
            }
            let counted = truths.indices.filter { _ in Bool.random(using: &random) }.map { row($0) }
            var world = World(truths, seed: seed)
            let plan = world.plan(budget: .random(in: 5...150, using: &random), seed: seed)
            var engine = ComparisonEngine(plan, counted: counted)
            var again = engine
            while let due = engine.next() {
                if engine.tracks[due.subject].isTold {
                    let isAnyoneAsked = engine.tracks.allSatisfy { $0.isTold || $0.attempts > 0 }
                    #expect(isAnyoneAsked || engine.tracks.allSatisfy(\.isTold), "seed \(seed)")
                }
                let record = world.record(due, plan, at: engine.spentSeconds)
                engine.take(record)
                #expect(again.next() == due)
                again.take(record)
            }
            #expect(engine.spentSeconds < plan.budgetSeconds! + 4)
            #expect(Judge(again).rows() == Judge(engine).rows())
        }
    }
}
