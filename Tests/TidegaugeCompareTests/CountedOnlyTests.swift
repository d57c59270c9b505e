// Tests of comparisons by counts alone: when they end, and with which result.
import Testing
import TidegaugeSpec

@testable import TidegaugeCompare

@Suite("Comparisons by counts only")
struct CountedOnlyTests {
    private func engine(_ truths: [Truth], budget: Double? = nil) -> ComparisonEngine {
        ComparisonEngine(World(truths, seed: 1).plan(pairs: 0, budget: budget))
    }

    private func row(_ subject: Int, _ variant: String = "", base: Double = 1_000, head: Double) -> CountedRow {
        CountedRow(
            scenario: "s\(subject)", driver: "model", variant: variant, metric: .writerInstructions,
            counter: "callgrind", base: base, again: base, head: head)
    }

    private func word(_ engine: ComparisonEngine, _ counted: [CountedRow]) -> ComparisonOutcome.Word {
        ComparisonOutcome(engine, Judge(engine).rows(), counted).word
    }

    @Test("No pair is requested, and no time is judged", arguments: [nil, 60])
    func noPairs(budget: Double?) {
        var engine = engine([Truth(), Truth()], budget: budget)
        #expect(engine.plan.isCountedOnly && engine.next() == nil && engine.pairsLeft == 0)
        #expect(Judge(engine).rows().isEmpty)
        #expect(!World([Truth()], seed: 1).plan(pairs: 1).isCountedOnly)
    }

    @Test("The outcome passes if no count is worse, and regresses if one is")
    func words() {
        let both = engine([Truth(), Truth()])
        #expect(word(both, [row(0, head: 1_000), row(1, head: 900)]) == .pass)
        #expect(word(both, [row(0, head: 1_000), row(1, head: 1_015)]) == .regressed)
        #expect(word(both, [row(0, head: 1_015)]) == .regressed, "whatever else was not counted")
    }

    @Test("A gate that was not counted at each point, or has no verdict, leaves them undecided")
    func undecided() {
        let both = engine([Truth(), Truth(points: ["a", "b"])])
        #expect(both.plan.uncounted(by: []) == ["s0 model", "s1 model a", "s1 model b"])
        #expect(both.plan.uncounted(by: [row(0, head: 1), row(1, "b", head: 1)]) == ["s1 model a"])
        let all = [row(0, head: 1_000), row(1, "a", head: 1_000), row(1, "b", head: 1_000)]
        #expect(both.plan.uncounted(by: all).isEmpty && word(both, all) == .pass)
        #expect(word(both, []) == .inconclusive && word(both, Array(all.dropLast())) == .inconclusive)
        #expect(word(both, all.dropLast() + [row(1, "b", base: 0, head: 10)]) == .inconclusive)
    }

    @Test("A scenario without a counted form does not make the outcome undecided, unless all are such")
    func noCountedForm() {
        func plan(_ subjects: Int) -> ComparisonPlan {
            var plan = World(Array(repeating: Truth(), count: subjects), seed: 1).plan(pairs: 0)
            plan.subjects[0].points[0].observers.heldSnapshots = 1
            return plan
        }
        #expect(word(ComparisonEngine(plan(2)), [row(1, head: 1_000)]) == .pass)
        #expect(word(ComparisonEngine(plan(1)), []) == .inconclusive)
    }
}
