import StillingWellSeededRandom
import Testing
import TidegaugeSpec

@testable import TidegaugeCompare

@Suite("Counted gates")
struct CountedRowTests {
    private func verdict(_ base: Double, _ again: Double, _ head: Double) -> Verdict {
        CountedRow(
            scenario: "a", driver: "d", variant: "", metric: .upkeepInstructions, counter: "callgrind", base: base,
            again: again, head: head
        ).verdict
    }

    @Test("a difference of more than 1 % is reported, in both directions")
    func threshold() {
        #expect(verdict(50_000, 50_000, 50_499) == .unchanged)
        #expect(verdict(50_000, 50_000, 50_501) == .regressed)
        #expect(verdict(50_000, 50_000, 49_499) == .improved)
        #expect(verdict(0, 0, 0) == .unchanged)
        #expect(verdict(0, 0, 10) == .inconclusive)
    }

    @Test("are worse where an engine counts what it did not do before")
    func new() {
        func verdict(_ again: Double) -> Verdict {
            CountedRow(
                scenario: "a", driver: "d", variant: "", metric: .engine(counter: "rows_read"), counter: "engine",
                base: 0, again: again, head: 3
            ).verdict
        }
        #expect(verdict(0) == .regressed && verdict(1) == .inconclusive)
    }

    @Test("do not move by what the base differs from itself")
    func noise() {
        #expect(verdict(50_000, 50_400, 50_800) == .inconclusive)
        #expect(verdict(50_000, 49_600, 51_000) == .regressed)
    }

    @Test("a planted change of 1.9 % is reported in 20 of 20 cases, one of 0.5 % never, under noise of ±0.15 %")
    func planted() {
        var random = SeededRandom(seed: 14)
        func counted(_ value: Double) -> Double { value * (1 + Double.random(in: -0.0015...0.0015, using: &random)) }
        for _ in 0..<20 {
            #expect(verdict(counted(50_000), counted(50_000), counted(50_000)) == .unchanged)
            #expect(verdict(counted(50_000), counted(50_000), counted(50_250)) == .unchanged)
            #expect(verdict(counted(50_000), counted(50_000), counted(50_950)) == .regressed)
        }
    }
}
