// Tests of yardsticks.
import Testing
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeRun
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

private struct NoRoom: Error, CustomStringConvertible { let description = "LMDB cannot open a store: no room" }

private final class OneFigure: TrialExecutor {
    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        var result = TrialResult(fate: .completed)
        result.figures = [Figure(.processCPU, .value, 18_400.123_456_789, n: 1)]
        return result
    }
}

/// An executor with an upkeep cost of the square root of the rows, times 0.1 ms.
private final class RootOfItems: TrialExecutor {
    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        var result = TrialResult(fate: .completed)
        let costNs = spec.observers.count > 0 ? Int64(Double(spec.dataset.items).squareRoot() * 1e5) : 0
        var cpu = CPUAccount()
        (cpu.processNs, cpu.commits, cpu.affectingCommits) = (costNs, 1, 1)
        result.cpu = cpu
        return result
    }
}

// Unchecked because the running thread alone uses it.
private final class Heard: RunnerDelegate, @unchecked Sendable {
    var judgements: [Judgement] = []
    let kept: KnownTrial?

    init(_ kept: KnownTrial?) { self.kept = kept }

    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) {}
    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) {}
    func ended(_ spec: TrialSpec, _ result: TrialResult) {}
    func skipped(_ record: SkippedRecord) {}
    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) {}
    func known(_ spec: TrialSpec) -> KnownTrial? { kept }
    func judged(_ judgement: Judgement) { judgements.append(judgement) }
}

@Suite struct YardstickTests {
    private static let spec = {
        var spec = TrialSpec.tiny()
        spec.measure = [Metric.processCPU.rawValue]
        return spec
    }()

    /// - Parameter readings: successive readings of the yardstick. nil: the reading fails.
    private func judge(
        _ limit: Limit, _ readings: [Double?], kept: KnownTrial? = nil
    ) throws -> (outcome: Outcome, text: String, verdict: Judgement.Verdict, taken: Int) {
        let heard = Heard(kept)
        var taken = 0
        let runner = Runner(
            drivers: [ModelDriver()], executor: OneFigure(), interruption: Interruption(), delegate: heard,
            yardstickNs: { _ in
                taken += 1
                guard let ns = readings[taken - 1] else { throw NoRoom() }
                return ns
            })
        let outcome = try runner.run([.init(scenario: "tiny", limits: [limit], trials: [Self.spec])])
        let judgement = try #require(heard.judgements.first)
        return (outcome, judgement.text, judgement.verdict, taken)
    }

    @Test func aSteadyYardstickIsAMeasure() throws {
        let limit = Limit(.processCPU, .lessOrEqual, 4, .rawCommit)
        let kept = try judge(limit, [4_600, 5_000])
        #expect(kept.verdict == .kept && kept.outcome == .pass)
        #expect(kept.text == "model: process_cpu.value <= 4 raw_commit: 18.4 µs (one raw_commit is 4.80 µs)")
        let broken = try judge(limit, [4_400, 4_600])
        #expect(broken.verdict == .broken && broken.outcome == .limitBroken)
    }

    @Test func anUnsteadyOneNamesBothReadings() throws {
        let unknown = try judge(Limit(.processCPU, .lessOrEqual, 4, .twoWakes), [3_000, 4_600])
        #expect(unknown.verdict == .unknown && unknown.outcome == .pass)
        let reason = ": the yardstick two_wakes changed by 1.5× during the run, from 3.00 µs to 4.60 µs"
        #expect(unknown.text.hasSuffix(reason))
    }

    @Test(arguments: [[nil, 3_000], [3_000, nil]] as [[Double?]])
    func oneThatCannotBeTakenSaysWhy(readings: [Double?]) throws {
        let unknown = try judge(Limit(.processCPU, .lessOrEqual, 4, .rawCommit), readings)
        #expect(unknown.verdict == .unknown && unknown.outcome == .pass)
        #expect(
            unknown.text.hasSuffix(
                ": the yardstick raw_commit could not be taken: LMDB cannot open a store: no room"), "\(unknown.text)")
    }

    @Test func trialsOfAnEarlierPartAreHeldAgainstNoneOfThisOne() throws {
        let figure = Figure(.processCPU, .value, 10, n: 1)
        let kept = KnownTrial(
            figures: [figure], record: TrialRecord(TrialResult(fate: .completed), of: Self.spec))
        let unknown = try judge(Limit(.processCPU, .lessOrEqual, 4, .rawCommit), [3_000, 3_000], kept: kept)
        #expect(unknown.verdict == .unknown && unknown.outcome == .pass)
        #expect(unknown.text.hasSuffix("could not be taken: trials were kept from an earlier part of the run"))
    }

    /// The exponent is 0.5. Each yardstick is read before the first point and after each one with its companion trials.
    private func judgeSweep(
        _ limits: [Limit], _ readings: [Yardstick: [Double?]], kept: KnownTrial? = nil
    ) throws -> (outcome: Outcome, judgements: [Judgement], taken: Int) {
        let heard = Heard(kept)
        var taken: [Yardstick: Int] = [:]
        let runner = Runner(
            drivers: [ModelDriver()], executor: RootOfItems(), interruption: Interruption(), delegate: heard,
            yardstickNs: { yardstick in
                defer { taken[yardstick, default: 0] += 1 }
                guard let ns = readings[yardstick]?[taken[yardstick, default: 0]] else { throw NoRoom() }
                return ns
            })
        let trials = [100, 10_000].map { items in
            var spec = TrialSpec.tiny()
            (spec.variant, spec.dataset.items) = ("dataset.items=\(items)", items)
            spec.measure = [Metric.upkeepCost.rawValue, Metric.upkeepExponent.rawValue]
            return spec
        }
        let outcome = try runner.run([.init(scenario: "tiny", limits: limits, trials: trials)])
        return (outcome, heard.judgements, taken.values.reduce(0, +))
    }

    @Test func aLineThroughPointsHoldsWhereTheMachineStayedTheSame() throws {
        let limit = Limit(.upkeepExponent, .lessOrEqual, 0.1)
        let steady = try judgeSweep(
            [limit], [.rawCommit: [4_000, 5_900, 4_000], .memoryWalk: [10_000, 10_000, 14_000]])
        #expect(steady.judgements.map(\.verdict) == [.broken] && steady.outcome == .limitBroken)
        #expect(steady.taken == 6)
        // The machine is the same before and after, and differs in between.
        let bent = try judgeSweep(
            [limit], [.rawCommit: [4_000, 6_100, 4_000], .memoryWalk: [10_000, 10_000, 10_000]])
        #expect(bent.judgements.map(\.verdict) == [.unknown] && bent.outcome == .pass)
        #expect(
            bent.judgements[0].text.hasSuffix(
                "(noisy machine: the yardstick raw_commit took 4.00 µs … 6.10 µs between the trials)"),
            "\(bent.judgements[0].text)")
        let untaken = try judgeSweep(
            [limit], [.rawCommit: [4_000, 4_000, 4_000], .memoryWalk: [10_000, nil, 10_000]])
        #expect(untaken.judgements.map(\.verdict) == [.unknown])
        #expect(untaken.judgements[0].text.contains("the yardstick memory_walk could not be taken: LMDB"))
    }

    @Test func aLineThroughPointsThatIsKeptStaysKept() throws {
        let limit = Limit(.upkeepExponent, .lessOrEqual, 0.6)
        let bent = try judgeSweep(
            [limit], [.rawCommit: [4_000, 6_100, 4_000], .memoryWalk: [10_000, 10_000, 10_000]])
        #expect(bent.judgements.map(\.verdict) == [.kept])
    }

    @Test func aFigureBesideACompanionHoldsWhereTheMachineStayedTheSame() throws {
        let limit = Limit(.upkeepCost, .lessOrEqual, 100)
        let steady = try judgeSweep(
            [limit], [.rawCommit: [4_000, 4_000, 4_000], .memoryWalk: [10_000, 10_000, 10_000]])
        #expect(steady.judgements.map(\.verdict) == [.broken, .broken] && steady.outcome == .limitBroken)
        let slowed = try judgeSweep(
            [limit], [.rawCommit: [4_000, 4_000, 9_000], .memoryWalk: [10_000, 10_000, 10_000]])
        #expect(slowed.judgements.map(\.verdict) == [.unknown, .unknown] && slowed.outcome == .pass)
    }

    @Test func whereNoLimitAsksNoneIsTaken() throws {
        #expect(try judge(Limit(.processCPU, .lessOrEqual, 20_000), []).taken == 0)
    }

    @Test func aFigureNearItsLimitHasTheDigitsThatTellThemApart() throws {
        let near = try judge(Limit(.processCPU, .lessOrEqual, 18_400), [])
        #expect(near.verdict == .broken)
        #expect(near.text == "model: process_cpu.value <= 18.4000 µs: 18.4001 µs", "\(near.text)")
        let far = try judge(Limit(.processCPU, .lessOrEqual, 1_000), [])
        #expect(far.text == "model: process_cpu.value <= 1.00 µs: 18.4 µs")
    }
}
