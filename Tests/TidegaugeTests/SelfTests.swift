// Tests of the harness itself: injected faults must be measured as they are.
import CTidegaugeFaults
import Foundation
import StillingWellTestThreads
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeStillingWellDriver

@testable import TidegaugeSpec
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized, .onThreads) struct SelfTests {
    /// Every commit is on schedule and the store costs nothing, so lateness comes from the stall only.
    @Test func aStallReadsAsArithmeticSays() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers = TrialSpec.tiny().writers
        spec.writers.threads = 1
        spec.writers.arrivals = .uniform
        spec.writers.rateHz = 1_000
        spec.writers.rowsPerCommit = 1
        spec.warmUpNs = 0
        spec.durationNs = 2_000_000_000
        spec.fault = FaultSpec(kind: .stall, atNs: 800_000_000, lengthNs: 200_000_000)
        // Other tests use the cores too, so the best of several trials counts. A wrong harness is wrong in all of them.
        var best: (seen: Double, corrected: Double, uncorrected: Double)?
        for _ in 0..<20 {
            let result = try runTrial(spec, on: NoopDriver())
            #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
            // On a busy machine a trial may have too few samples to show a stall.
            guard let seen = result.value(.stallSeen) else { continue }
            let corrected = try #require(result.value(.writeResponseTime, "p99"))
            let uncorrected = try #require(result.value(.writeServiceTime, "p99"))
            if best == nil || abs(seen - 1) < abs(best!.seen - 1) { best = (seen, corrected, uncorrected) }
            if abs(seen - 1) < 0.2 { break }
        }
        let (seen, corrected, uncorrected) = try #require(best)
        #expect(abs(seen - 1) < 0.2, "\(seen)")
        // In 2 s, one commit in a hundred is late by more than 200 ms less 1 % of 2 s.
        #expect(corrected > 0.8 * 180e6, "\(corrected)")
        #expect(uncorrected < 20e6, "\(uncorrected)")
    }

    @Test(arguments: [FaultSpec.Kind.loss, .reorder])
    func harmedDeliveriesAreCaught(kind: FaultSpec.Kind) throws {
        for driver in [ModelDriver() as any StoreDriver, StillingWellDriver()] {
            var spec = TrialSpec.tiny(driver: driver.name)
            spec.hangTimeoutNs = 1_000_000_000
            spec.fault = FaultSpec(kind: kind, every: 5)
            let result = try runTrial(spec, on: driver) { $0.value(.faultsCaught) != nil || $0.fate != .completed }
            #expect(result.fate == .completed, "\(driver.name): \(result.notes) \(result.violations)")
            #expect(try #require(result.value(.faultsCaught)) >= 1)
            #expect(result.value(.oracleViolations) == 0)
            #expect(result.notes.contains { $0.contains("detected, as expected") && $0.contains("seed 1") })
        }
    }

    @Test func whatWasNeverHarmedIsNotCaught() throws {
        var spec = TrialSpec.tiny()
        spec.fault = FaultSpec(kind: .loss, every: 1_000_000)
        let result = try runTrial(spec, on: ModelDriver())
        #expect(result.fate == .completed && result.value(.faultsCaught) == nil)
        #expect(result.notes.contains { $0.contains("was not injected") })
    }

    @Test func anOracleThatSeesNothingFails() {
        var result = TrialResult(fate: .completed)
        result.figures = [Figure(.oracleViolations, .value, 0, n: 1), Figure(.faultsCaught, .value, 0, n: 1)]
        result.expectCaught(TrialSpec.tiny(), harmed: 1)
        #expect(result.fate == .oracleViolation && result.violationCount == 1)
        #expect(result.violations[0].contains("did not detect"))
    }

    @Test func aStoreWithoutChangeSetsIsNotAskedForLostDeliveries() {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.fault = FaultSpec(kind: .loss, every: 5)
        #expect(CapabilityCheck.obstacle(spec, NoopDriver().capabilities)?.contains("no change sets") == true)
    }

    /// The store's commits take a given time, so that the figure can be compared with it.
    @Test(arguments: [0.05, 0.2, 1])
    func aSlowdownReadsAsWhatItIs(amount: Double) throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.observers.count = 0
        spec.observers.idleQueries = 0
        spec.writers.threads = 1
        spec.writers.load = .closed
        spec.writers.rowsPerCommit = 1
        spec.durationNs = 300_000_000
        spec.fault = FaultSpec(kind: .slowdown, amount: amount)
        // Repeats longer trials until the figure is close, because medians of few commits depend on other load. A
        // commit is long enough that the cost of its call is negligible, with a sanitizer too. It is short enough that
        // most are not preempted.
        let commitNs: Int64 = cf_is_in_place() ? 200_000 : 500_000
        let result = try runTrial(spec, on: TimedDriver(commitNs: commitNs)) {
            $0.value(.slowdownSeen).map { abs($0 - amount) < 0.02 } ?? false
        }
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        let seen = try #require(result.value(.slowdownSeen))
        #expect(abs(seen - amount) < 0.02)
    }

    @Test(.enabled(if: cf_is_in_place(), "a sanitizer reads the clock itself"))
    func theWallClockStepsForThisProcessAlone() {
        let before = Date()
        cf_step_wall_clock_ns(3_600_000_000_000)
        let stepped = Date().timeIntervalSince(before)
        let monotonicNs = MonotonicClock.nowNs()
        cf_step_wall_clock_ns(0)
        #expect(stepped > 3_599 && stepped < 3_700)
        #expect(Date().timeIntervalSince(before) < 100)
        #expect(MonotonicClock.nowNs() - monotonicNs < 60_000_000_000)
    }

    @Test func aStoreIsNotMovedByTheWallClock() throws {
        var spec = TrialSpec.tiny(driver: "stillingwell")
        spec.durationNs = 400_000_000
        spec.fault = FaultSpec(kind: .clockStep, atNs: 100_000_000)
        let result = try runTrial(spec, on: StillingWellDriver())
        #expect(result.fate == .completed, "\(result.notes) \(result.violations)")
        #expect(result.value(.missedFinal) == 0)
    }

    @Test func recordingAllocatesNothing() throws {
        let cost = try RecordingCost()
        if AllocationProbe.isAvailable { #expect(cost.bytes == 0) }
        // A scenario checks a tighter bound with a release build.
        #expect(cost.ns > 0 && cost.ns < 20_000)
    }

    @Test func aTimeUnderThreeReadingsOfTheClockIsAtTheFloor() throws {
        var spec = TrialSpec.tiny(driver: "noop")
        spec.writers.threads = 1
        spec.writers.load = .closed
        func waits(_ result: TrialResult) -> [Figure] {
            result.figures.filter { $0.metric == .lockWait && $0.statistic == .min }
        }
        let result = try runTrial(spec, on: NoopDriver()) { waits($0).allSatisfy { $0.value != nil } }
        // Nothing happens between the call and the lock.
        let clockNs = ClockCost.measure()
        let waits = waits(result)
        #expect(!waits.isEmpty)
        for figure in waits where try #require(figure.value) < clockNs {
            #expect(figure.flags.contains(.atFloor))
        }
        #expect(clockNs > 1 && clockNs < 20_000)
    }
}

/// The no-op store, with commits that spin until they have lasted for a given time.
private struct TimedDriver: StoreDriver {
    let commitNs: Int64
    var name: String { "noop" }
    var facts: EngineFacts { NoopDriver().facts }

    func open(_ configuration: StoreConfiguration) -> ForwardingStore<NoopStore> {
        ForwardingStore(NoopDriver().open(configuration)) { [commitNs] in SlowWriter($0, [.lasting(ns: commitNs)]) }
    }
}
