// Tests of budgets that end early, and of void pairs.
import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

@testable import TidegaugeCompare

@Suite("A budget that ends early")
struct BudgetTests {
    /// Nearly nine times as slow, with much noise: most pairs are from four to twenty times as slow.
    private let grave = Truth(effect: log(8.81), sigma: 0.45)

    private func compare(_ truths: [Truth], budget: Double, seed: UInt64) -> ComparisonEngine {
        var world = World(truths, seed: seed)
        return world.compare(world.plan(budget: budget, seed: seed))
    }

    @Test(
        "A slowdown in every pair is reported, though no gate has the eight pairs of a long screening",
        arguments: [(1, 7.0), (1, 10), (2, 13), (2, 16), (3, 18), (6, 30), (14, 50)])
    func grave(gates: Int, budget: Double) {
        var called = 0
        for seed in UInt64(0)..<20 {
            let others = Array(repeating: Truth(), count: gates - 1)
            let engine = compare([grave] + others, budget: budget, seed: seed)
            #expect(engine.spentSeconds <= budget + 1)
            let rows = Judge(engine).rows().filter(\.isGate)
            guard rows[0].verdict == .regressed else { continue }
            called += 1
            #expect(ComparisonOutcome(engine, rows).word == .regressed)
            #expect(rows[0].low! > 0.5, "seed \(seed)")
        }
        #expect(called >= 18, "\(called) of 20")
    }

    @Test(
        "A binary compared with itself is red in no more than one comparison in a hundred, wherever the budget ends",
        arguments: [(1, 7.0), (1, 12), (2, 16), (3, 18), (6, 40)])
    func null(gates: Int, budget: Double) {
        let comparisons = 1_000
        var red = 0
        for seed in UInt64(0)..<UInt64(comparisons) {
            // With this much noise the threshold of a gate rules out few chance effects.
            let truth = Truth(sigma: 0.5, voidShare: 0.05, seconds: 1)
            let engine = compare(Array(repeating: truth, count: gates), budget: budget, seed: seed)
            if engine.tracks.contains(where: { $0.state == .confirmed }) { red += 1 }
        }
        // At most ten are expected. More than nineteen occur about once in 300 such tests, and the seeds are fixed.
        #expect(red <= 19, "\(red) of \(comparisons)")
    }

    @Test("The remaining time is the rest of the budget, or without one the time that pairs took so far")
    func secondsLeft() throws {
        var world = World([grave, Truth()], seed: 3)
        let engine = compare([grave, Truth()], budget: 20, seed: 3)
        #expect(engine.secondsLeft == max(0, 20 - engine.spentSeconds))
        let plan = world.plan(budget: nil, seed: 3)
        #expect(ComparisonEngine(plan).secondsLeft == nil)
        let whole = world.compare(plan)
        #expect(whole.pairsLeft == 0 && whole.secondsLeft == 0)
    }

    @Test("A confirmation that the budget cuts short is looked at once more, with the α that is left")
    func cutShort() {
        var called = 0
        for seed in UInt64(0)..<20 {
            // 24 s of screening leave no time for the twenty pairs of the first look that may confirm.
            let engine = compare([Truth(effect: 0.2), Truth(), Truth()], budget: 40, seed: seed)
            #expect(engine.tracks[0].confirm.count < 20)
            if engine.tracks[0].state == .confirmed { called += 1 }
            #expect(engine.tracks[1].state != .confirmed && engine.tracks[2].state != .confirmed)
        }
        #expect(called >= 18, "\(called) of 20")
    }

    @Test("A suspicion that the budget cannot confirm is named, and the summary does not say that nothing is known")
    func suspected() {
        // Six pairs in which the head is slower. One binary in 64 would look so against itself.
        let engine = compare([grave], budget: 6, seed: 1)
        let rows = Judge(engine).rows().filter(\.isGate)
        #expect(rows[0].verdict == .suspected && ComparisonOutcome(engine, rows).word == .inconclusive)
        #expect(rows[0].pairs == 6 && rows[0].low! > 0.5)
        #expect(rows[0].remark.contains("the budget ended"))
        #expect(rows[0].remark.contains("6 pairs are too few for any verdict (α = 1 %)"))
    }

    @Test("Pairs too few to reach α see no effect, however alike they are", arguments: 1...8)
    func nothingDetectable(pairs: Int) throws {
        let effect = try #require(PairedEffect(Array(repeating: 0.5, count: pairs)))
        #expect((effect.detectable == nil) == (pairs < 7))
        #expect(DetectableEffect().effect(sigma: 0.1, pairs: pairs).map { $0 > 0.1 } == (pairs < 7 ? nil : true))
    }

    @Test("A resumed comparison in a budget comes to the same end", arguments: [(1, 9.0), (4, 25), (4, 60)])
    func resumed(gates: Int, budget: Double) {
        var world = World([grave] + Array(repeating: Truth(voidShare: 0.1), count: gates - 1), seed: 3)
        let plan = world.plan(budget: budget, seed: 3)
        let whole = world.compare(plan)
        let records = whole.tracks.flatMap { $0.screen + $0.confirm + $0.voids }
        let inOrder = records.sorted { ($0.atSeconds, $0.number) < ($1.atSeconds, $1.number) }
        var again = ComparisonEngine(plan)
        for record in inOrder {
            #expect(again.next().map { [$0.subject, $0.number] } == [record.subject, record.number])
            again.take(record)
        }
        #expect(again.next() == nil)
        #expect(again.tracks.map(\.state) == whole.tracks.map(\.state))
        #expect(Judge(again).rows() == Judge(whole).rows())
    }
}

@Suite("Void pairs")
struct VoidPairTests {
    private func gate(_ engine: ComparisonEngine) -> ComparedRow { Judge(engine).rows()[0] }

    @Test("Too many void pairs end a stage, and the result of the valid ones is kept")
    func goodOnesStand() {
        // One pair in four is void, so the fifth void one comes after about fifteen good ones.
        var called = 0
        for seed in UInt64(0)..<20 {
            var world = World([Truth(effect: 0.3, voidShare: 0.25)], seed: seed)
            let engine = world.compare(world.plan(seed: seed))
            if gate(engine).verdict == .regressed { called += 1 }
        }
        #expect(called >= 18, "\(called) of 20")
    }

    @Test("If all pairs are void, the report says only that")
    func noneGood() {
        var world = World([Truth(effect: 0.3, voidShare: 1)], seed: 1)
        let engine = world.compare(world.plan())
        let row = gate(engine)
        #expect(row.verdict == .inconclusive && row.remark.hasPrefix("noisy machine: 5 void pairs"))
        #expect(engine.tracks[0].attempts == 5)
    }

    @Test(
        "Bytes and counts are the same on a noisy machine: a void pair counts for them",
        arguments: ["space_amplification", "engine_bytes", "missed_final"])
    func bytesCount(metric: String) {
        var world = World(
            [Truth(effect: log(2.25), sigma: 0.001, voidShare: 1, gate: FigureName(metric, "value"))], seed: 2)
        let engine = world.compare(world.plan())
        let row = gate(engine)
        #expect(row.verdict == .regressed && abs(row.change! - 1.25) < 0.05)
        #expect(engine.tracks[0].voids.isEmpty)
    }

    @Test("In a void pair of a gate by bytes, clocks do not count as advice; of one by the clock, bytes do")
    func byKind() throws {
        let figures: @Sendable (inout SeededRandom) -> [(name: FigureName, base: Double?, head: Double?)] = { random in
            let noise = (0..<4).map { _ in Double.random(in: 0.99...1.01, using: &random) }
            return [
                (FigureName("writer_cpu", "value"), 100 * noise[0], 200 * noise[1]),
                (FigureName("writer_bytes", "value"), 100 * noise[2], 200 * noise[3]),
            ]
        }
        var world = World(
            [
                Truth(voidShare: 1, gate: FigureName("engine_bytes", "value"), more: figures),
                Truth(voidShare: 0.15, more: figures),
            ], seed: 3)
        let engine = world.compare(world.plan())
        let advice = Judge(engine).rows().filter { !$0.isGate }
        func row(_ scenario: String, _ metric: String) -> ComparedRow? {
            advice.first { $0.scenario == scenario && $0.name.metric == metric }
        }
        #expect(row("s0", "writer_cpu") == nil)
        #expect(row("s0", "writer_bytes")?.verdict == .regressed)
        let (cpu, bytes) = (try #require(row("s1", "writer_cpu")), try #require(row("s1", "writer_bytes")))
        #expect(cpu.pairs == 20 && bytes.pairs == 20 + engine.tracks[1].voids.count && bytes.pairs > 20)
    }
}
