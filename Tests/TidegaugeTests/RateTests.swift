// Tests of the sustainable rate, its search, and trials that are void because of noise. No processes are started.
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeSpec

@testable import TidegaugeRun
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

/// An executor with results of a store that keeps up with `capacityHz`.
private final class RatedTrials: TrialExecutor {
    var ran: [TrialSpec] = []
    let capacityHz: Double
    var noise: (Int) -> NoiseAccount? = { _ in nil }

    init(capacityHz: Double) { self.capacityHz = capacityHz }

    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        ran.append(spec)
        let rateHz = spec.writers.rateHz
        let isSustained = rateHz <= capacityHz
        var result = TrialResult(fate: .completed)
        result.noise = noise(ran.count - 1)
        result.figures = [
            Figure(.scheduleStarted, .value, isSustained ? 1 : capacityHz / rateHz, n: 1_000),
            Figure(.versionLag, .slope, isSustained ? rateHz * 0.0005 : rateHz - capacityHz, n: 8),
            Figure(.staleness, .slope, isSustained ? -2e6 : 5e8, n: 8),
            Figure(.coalescingRatio, .value, max(1, rateHz / 5_000), n: 1_000),
            Figure(.oracleViolations, .value, isSustained ? 0 : 1, n: 1_000),
        ]
        return result
    }
}

private final class Heard: RunnerDelegate, @unchecked Sendable {
    var figures: [(spec: TrialSpec, figure: Figure)] = []
    var judgements: [Judgement] = []
    var highestIndex = 0
    var total = 0
    var leftNs: [Int64] = []

    func planned(leftNs: Int64) { self.leftNs.append(leftNs) }
    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) {
        highestIndex = max(highestIndex, index)
        self.total = total
    }
    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) {}
    func ended(_ spec: TrialSpec, _ result: TrialResult) {}
    func skipped(_ record: SkippedRecord) {}
    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) {
        self.figures += figures.map { (spec, $0) }
    }
    func judged(_ judgement: Judgement) { judgements.append(judgement) }

    func figure(_ metric: Metric, _ statistic: Statistic = .value) -> Figure? {
        figures.last { $0.figure.metric == metric && $0.figure.statistic == statistic }?.figure
    }
}

@Suite struct RateTests {
    private func specs(_ rates: [Double]) -> [TrialSpec] {
        rates.map { rate in
            var spec = TrialSpec.tiny(driver: "noop")
            spec.measure = [Metric.sustainableRate, .kneeRate].map(\.rawValue)
            spec.writers.rateHz = rate
            spec.variant = "observers.count=2;writers.rate=\(Int(rate))/s"
            return spec
        }
    }

    private func run(
        _ rates: [Double], capacityHz: Double, search: Int = 0, limits: [Limit] = [], repeatsVoid: Bool = false,
        noise: @escaping (Int) -> NoiseAccount? = { _ in nil }
    ) throws -> (Outcome, RatedTrials, Heard) {
        let executor = RatedTrials(capacityHz: capacityHz)
        executor.noise = noise
        let heard = Heard()
        let runner = Runner(
            drivers: [NoopDriver()], executor: executor, interruption: Interruption(), delegate: heard,
            noiseLimits: NoiseLimits(calibratedHiccupNs: 100_000), yardstickNs: { _ in 1_000 })
        let outcome = try runner.run([
            .init(
                scenario: "tiny", limits: limits, trials: specs(rates), searchSteps: search, repeatsVoid: repeatsVoid)
        ])
        return (outcome, executor, heard)
    }

    @Test func theBracketIsBetweenTheLastKeptUpWithAndTheFirstThatIsNot() throws {
        let (_, _, heard) = try run([1_000, 4_000, 16_000, 64_000], capacityHz: 10_000)
        #expect(heard.figure(.sustainableRate, .low)?.value == 4_000)
        #expect(heard.figure(.sustainableRate, .high)?.value == 16_000)
        #expect(heard.figure(.sustainableRate, .low)?.flags.contains(.coalescing(1)) == true)
        #expect(heard.figures.filter { $0.figure.metric == .sustainableRate }.allSatisfy { $0.spec.variant == "*" })
    }

    @Test func theSearchHalvesTheBracketByRatio() throws {
        let limits = [Limit(.sustainableRate, .greaterOrEqual, 9_000)]
        let (outcome, executor, heard) = try run(
            [1_000, 4_000, 16_000], capacityHz: 10_000, search: 4, limits: limits)
        #expect(executor.ran.dropFirst(3).map(\.writers.rateHz) == [8_000, 11_314, 9_514, 10_375])
        #expect(executor.ran[3].variant == "observers.count=2;writers.rate=8000/s")
        #expect(heard.figure(.sustainableRate, .low)?.value == 9_514)
        #expect(heard.figure(.sustainableRate, .high)?.value == 10_375)
        #expect(outcome == .pass && heard.judgements.map(\.verdict) == [.kept])
        #expect(heard.highestIndex <= heard.total)
    }

    /// The estimate is based on the duration of trials, not on their number.
    @Test func whatIsLeftIsPlanned() throws {
        let (_, executor, heard) = try run([1_000, 2_000, 4_000], capacityHz: 1e9)
        let eachNs = executor.ran[0].warmUpNs + executor.ran[0].durationNs
        #expect(heard.leftNs.count == 3 && heard.leftNs == heard.leftNs.sorted(by: >))
        #expect(heard.leftNs.allSatisfy { $0 >= eachNs } && heard.leftNs[0] == 3 * heard.leftNs[2])
    }

    @Test func theSearchGoesOnBeyondTheEnds() throws {
        let (_, up, upwards) = try run([1_000, 2_000], capacityHz: 10_000, search: 3)
        #expect(up.ran.dropFirst(2).map(\.writers.rateHz) == [4_000, 8_000, 16_000])
        #expect(upwards.figure(.sustainableRate, .high)?.value == 16_000)
        let (_, down, _) = try run([80_000, 160_000], capacityHz: 10_000, search: 9)
        // The search ends when the ends are at most 5 % apart.
        #expect(down.ran.dropFirst(2).prefix(4).map(\.writers.rateHz) == [40_000, 20_000, 10_000, 14_142])
        let last = try #require(down.ran.last?.writers.rateHz)
        #expect(last > 10_000 && last < 10_900)
    }

    @Test func withoutAFailureThereIsNoUpperEnd() throws {
        let (_, _, heard) = try run([1_000, 2_000], capacityHz: 10_000)
        #expect(heard.figure(.sustainableRate, .low)?.value == 2_000)
        #expect(heard.figure(.sustainableRate, .high)?.value == nil)
    }

    @Test func aRateThatFailsBelowOneThatDoesNotIsSaid() {
        let bracket = RateBracket([(1_000, true), (2_000, false), (4_000, true), (8_000, false)])
        #expect(bracket.low == 1_000 && bracket.high == 2_000 && !bracket.isMonotone)
        #expect(RateBracket([(1, true), (2, true), (4, false)]).isMonotone)
        #expect(RateBracket([SweepFigures.Point]()).next == nil)
    }

    @Test func theKneeIsWhereCallbacksBeginToMerge() throws {
        let rates: [Double] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]
        let (_, _, heard) = try run(rates, capacityHz: 1e9)
        let knee = try #require(heard.figure(.kneeRate)?.value)
        #expect(abs(knee / 5_000 - 1) < 0.1)
        let (_, _, flat) = try run([1, 2, 4, 8, 16, 32], capacityHz: 1e9)
        #expect(flat.figure(.kneeRate)?.value == nil && flat.figure(.kneeRate)?.flags.contains(.noKnee) == true)
    }

    // MARK: Void trials

    private func noise(stealShare: Double = 0, hiccupUs: Int64 = 80) -> NoiseAccount {
        var hiccups = LatencyHistogram()
        for _ in 0..<2_000 { hiccups.record(hiccupUs * 1_000) }
        var pressure = PressureProbe.read().since(PressureProbe.read())
        // One tick more, because the kernel's first tick may be older.
        pressure.stealNs = Int64(stealShare * 4e9) + 10_000_000
        return NoiseAccount(pressure, hiccups, lengthNs: 1_000_000_000, cores: 4)
    }

    @Test func theRuleLooksAtTheMachineAlone() {
        #expect(noise().disturbance(NoiseLimits(calibratedHiccupNs: 100_000)) == nil)
        #expect(noise(stealShare: 0.031).disturbance(NoiseLimits())?.text == "steal=3.1%")
        #expect(noise(hiccupUs: 4_900).disturbance(NoiseLimits(calibratedHiccupNs: 100_000)) == nil)
        #expect(noise(hiccupUs: 6_000).disturbance(NoiseLimits(calibratedHiccupNs: 100_000))?.kind == .hiccups)
        // If the machine has such hiccups at rest too, they are normal for it.
        #expect(noise(hiccupUs: 6_000).disturbance(NoiseLimits(calibratedHiccupNs: 2_000_000)) == nil)
    }

    @Test func stolenTimeIsOfAllProcessorsAndKnowsTicks() {
        func steal(_ ns: Int64, cores: Int) -> NoiseAccount {
            var pressure = PressureProbe.read().since(PressureProbe.read())
            pressure.stealNs = ns
            return NoiseAccount(pressure, LatencyHistogram(), lengthNs: 400_000_000, cores: cores)
        }
        // In 400 ms, one tick may have been stolen before the window.
        #expect(steal(10_000_000, cores: 1).disturbance(NoiseLimits()) == nil)
        // Three ticks without that one, which are 1.9 % of 1,600 ms of CPU time.
        #expect(steal(40_000_000, cores: 4).disturbance(NoiseLimits()) == nil)
        #expect(steal(60_000_000, cores: 4).disturbance(NoiseLimits())?.text == "steal=3.1%")
        #expect(steal(60_000_000, cores: 4).stealShare == 0.03125)
    }

    @Test func waitingForOtherProcessesMakesAClockUnknownAndNoCount() throws {
        func contended(_ share: Double) -> NoiseAccount {
            var account = noise()
            account.waitShare = share
            return account
        }
        #expect(contended(0.09).disturbance(NoiseLimits()) == nil)
        #expect(contended(0.25).disturbance(NoiseLimits())?.text == "cpu_wait=25.0%")
        let limits = [
            Limit(.scheduleStarted, .greaterOrEqual, 0.9), Limit(.oracleViolations, .lessOrEqual, 0),
            Limit(.sustainableRate, .greaterOrEqual, 30_000),
        ]
        let (_, _, heard) = try run(
            [1_000, 20_000], capacityHz: 2_000, limits: limits, noise: { _ in contended(0.25) })
        // The second rate is not kept up with, and so nothing is known over the sweep. A count is judged as usual.
        #expect(heard.judgements.map(\.verdict) == [.kept, .unknown, .kept, .broken, .unknown])
        #expect(heard.judgements[1].text.hasSuffix("(noisy machine: cpu_wait=25.0%)"))
    }

    @Test func quietTrialsAreJudgedWithoutTheDisturbedOnes() {
        func verdict(_ metric: Metric, _ limit: Double, _ values: [(Double, String?)]) -> Judgement.Verdict? {
            LimitCheck(
                scenario: "limits",
                limits: [Limit(metric, .greaterOrEqual, limit)],
                entries: values.map {
                    .init(driver: "d", variant: "", figure: Figure(metric, .value, $0.0, n: 1), noise: $0.1)
                }
            ).judgements().first?.verdict
        }
        let disturbed: [(Double, String?)] = [(100, nil), (9, "cpu_wait=60.0%"), (8, "cpu_wait=60.0%")]
        #expect(verdict(.objectRate, 90, disturbed) == .kept)
        #expect(verdict(.objectRate, 110, disturbed) == .broken)
        #expect(verdict(.objectRate, 90, Array(disturbed.dropFirst())) == .unknown)
        #expect(verdict(.engineBytes, 90, disturbed) == .broken)
    }

    @Test func aVoidTrialIsRunAgain() throws {
        let (outcome, executor, heard) = try run(
            [1_000, 2_000, 4_000], capacityHz: 1e9, repeatsVoid: true,
            noise: { self.noise(stealShare: $0 == 1 ? 0.5 : 0) })
        #expect(outcome == .pass)
        #expect(executor.ran.map(\.writers.rateHz) == [1_000, 2_000, 2_000, 4_000])
        let voided = try #require(heard.figures.first { $0.figure.metric == .voidedTrials })
        #expect(voided.figure.value == 1 && voided.figure.flags == [.void(reason: "steal=50.0%")])
        #expect(voided.spec.writers.rateHz == 2_000)
        // A row per rate, also for the rate whose trial was repeated.
        #expect(heard.figures.count { $0.figure.metric == .coalescingRatio } == 3)
        #expect(heard.highestIndex == heard.total)
    }

    @Test func aFifthIsRepeatedAndThenNothingIsHeldAgainstTheStore() throws {
        let limits = [Limit(.coalescingRatio, .lessOrEqual, 1), Limit(.scheduleStarted, .greaterOrEqual, 0.9)]
        let (outcome, executor, heard) = try run(
            [20_000], capacityHz: 1e9, limits: limits, repeatsVoid: true, noise: { _ in self.noise(stealShare: 0.5) })
        #expect(executor.ran.count == 2)
        let end = try #require(heard.figure(.trialOutcome))
        #expect(end.value == 0 && end.flags == [.noisy(reason: "steal=50.0%")])
        // A limit broken by a disturbed trial is unknown. A limit kept in spite of it is kept.
        #expect(heard.judgements.map(\.verdict) == [.unknown, .kept])
        #expect(heard.judgements[0].text.contains("noisy machine"))
        #expect(outcome == .pass)
        let (smoke, quick, _) = try run(
            [20_000], capacityHz: 1e9, noise: { _ in self.noise(stealShare: 0.5) })
        #expect(smoke == .pass && quick.ran.count == 1)
    }
}
