// Tests of gates that look worse without confirmation by fresh pairs.
import Testing

@testable import TidegaugeCompare

@Suite("Suspicions")
struct SuspicionTests {
    @Test("A confirmation that was cut short is named, with the interval of all its pairs")
    func cutShort() {
        var world = World([Truth(effect: 0.2)], seed: 1)
        let plan = world.plan()
        var engine = ComparisonEngine(plan)
        while engine.tracks[0].confirm.count < 3, let due = engine.next() {
            engine.take(world.record(due, plan, at: engine.spentSeconds))
        }
        let row = Judge(engine).rows()[0]
        #expect(row.verdict == .suspected && row.pairs == 23 && row.low! > 0.1)
        #expect(row.remark.hasPrefix("its confirmation was not finished"))
        #expect(ComparisonOutcome(engine, [row]).word == .inconclusive)
    }

    @Test("Fresh pairs alone decide once they have an interval")
    func freshAlone() {
        var world = World([Truth(effect: 0.2)], seed: 1)
        let plan = world.plan()
        var engine = ComparisonEngine(plan)
        while engine.tracks[0].confirm.count < 6, let due = engine.next() {
            engine.take(world.record(due, plan, at: engine.spentSeconds))
        }
        let row = Judge(engine).rows()[0]
        #expect(row.verdict == .suspected && row.pairs == 6)
    }

    @Test("With one pair or two the report does not estimate how many would decide", arguments: 1...4)
    func fewPairs(pairs: Int) throws {
        let effect = try #require(PairedEffect((0..<pairs).map { 0.1 * Double($0 % 2) }))
        #expect((effect.pairsToDecide(0.02) == nil) == (pairs < 3))
    }
}
