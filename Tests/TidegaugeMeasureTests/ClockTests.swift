import Testing

@testable import TidegaugeMeasure

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

    @Test("The reported spinning time is CPU time that the thread used")
    func spinIsAccounted() {
        // On a busy machine a thread may be off its core for a whole wait. Then nothing was spun, and it tries again.
        for _ in 0..<200 {
            let cpuBeforeNs = CPUProbe.currentThreadNs()
            let spunNs = Pacing.wait(untilNs: MonotonicClock.nowNs() + 140_000, spin: true)
            let cpuNs = CPUProbe.currentThreadNs() - cpuBeforeNs
            #expect(spunNs <= cpuNs + Pacing.preemptedGapNs)
            if spunNs > 0 { return }
        }
        Issue.record("never saw a spin in 200 waits")
    }
}
