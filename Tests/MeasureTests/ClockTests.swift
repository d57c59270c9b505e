import Testing

@testable import Measure

@Suite("Clock and pacing")
struct ClockTests {
    @Test("The clock never goes back")
    func monotonic() {
        var last = MonotonicClock.nowNs()
        for _ in 0..<10_000 {
            let now = MonotonicClock.nowNs()
            #expect(now >= last)
            last = now
        }
    }

    @Test("A deadline in the past is not waited for", arguments: [true, false])
    func past(spin: Bool) {
        #expect(Pacing.wait(untilNs: MonotonicClock.nowNs() - 1, spin: spin) == 0)
        #expect(Pacing.wait(untilNs: 0, spin: spin) == 0)
        Pacing.sleep(untilNs: -5)
    }

    @Test("A wait ends at its deadline or later, never before", arguments: [true, false])
    func neverEarly(spin: Bool) {
        Pacing.tightenTimerSlack()
        for waitNs in [1_000, 100_000, 400_000] as [Int64] {
            let deadlineNs = MonotonicClock.nowNs() + waitNs
            let spunNs = Pacing.wait(untilNs: deadlineNs, spin: spin)
            #expect(MonotonicClock.nowNs() >= deadlineNs)
            #expect(spin || spunNs == 0)
            #expect(spunNs <= Pacing.spinWindowNs + Pacing.preemptedGapNs)
        }
    }

    @Test("What is said to have been spun is CPU time that the thread used")
    func spinIsAccounted() {
        let deadlineNs = MonotonicClock.nowNs() + 140_000
        let cpuBeforeNs = CPUProbe.currentThreadNs()
        let spunNs = Pacing.wait(untilNs: deadlineNs, spin: true)
        let cpuNs = CPUProbe.currentThreadNs() - cpuBeforeNs
        #expect(spunNs > 0)
        #expect(cpuNs > 0 && spunNs <= cpuNs + Pacing.preemptedGapNs)
    }
}
