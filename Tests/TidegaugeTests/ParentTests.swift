// Tests of the parent, without processes, and of the check for a steady state.
import Testing
import TidegaugeDriver
import TidegaugeHarnessFixtures
import TidegaugeMeasure
import TidegaugeNoopDriver
import TidegaugeSpec

@testable import TidegaugeRun
@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

/// An executor with canned results.
private final class CannedTrials: TrialExecutor {
    var ran: [TrialSpec] = []
    private let result: (TrialSpec) -> TrialResult

    init(_ result: @escaping (TrialSpec) -> TrialResult) { self.result = result }

    func run(_ spec: TrialSpec, report: @escaping @Sendable (TrialProgress) -> Void) -> TrialResult {
        ran.append(spec)
        return result(spec)
    }
}

/// Records the calls that it receives.
private final class Told: RunnerDelegate, @unchecked Sendable {
    var figures: [(spec: TrialSpec, figure: Figure)] = []
    var skipped: [String] = []
    var judgements: [Judgement] = []
    var afterTrial: () -> Void = {}

    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) { #expect(index <= total) }
    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) {}
    func ended(_ spec: TrialSpec, _ result: TrialResult) { afterTrial() }
    func skipped(_ record: SkippedRecord) { skipped.append("\(record.driver): \(record.reason)") }
    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) {
        self.figures += figures.map { (spec, $0) }
    }
    func judged(_ judgement: Judgement) { judgements.append(judgement) }

    func value(_ metric: Metric, _ statistic: Statistic = .value, variant: String = "") -> Double? {
        figures.first {
            $0.spec.variant == variant && $0.figure.metric == metric && $0.figure.statistic == statistic
        }?.figure.value
    }
}

private func account(_ processNs: Int64, commits: Int, affecting: Int) -> CPUAccount {
    var account = CPUAccount()
    (account.processNs, account.commits, account.affectingCommits) = (processNs, commits, affecting)
    return account
}

@Suite struct ParentTests {
    private func run(
        _ trials: [TrialSpec], limits: [Limit] = [], reference: String? = nil, unjudged: Set<String> = [],
        _ result: @escaping (TrialSpec) -> TrialResult
    ) throws -> (Outcome, CannedTrials, Told) {
        let executor = CannedTrials(result)
        let told = Told()
        let runner = Runner(
            drivers: [NoopDriver(), ModelDriver(), FaultyDriver(.crash)], executor: executor,
            interruption: Interruption(), delegate: told, yardstickNs: { _ in 1_000 })
        let outcome = try runner.run([
            .init(scenario: "tiny", limits: limits, trials: trials, reference: reference, unjudged: unjudged)
        ])
        return (outcome, executor, told)
    }

    private func spec(_ measure: [Metric], trial: Int = 0, variant: String = "", items: Int = 60) -> TrialSpec {
        var spec = TrialSpec.tiny()
        spec.measure = measure.map(\.rawValue)
        spec.trial = trial
        spec.variant = variant
        spec.dataset.items = items
        return spec
    }

    /// Makes a result of 100 commits, half of them affecting observers if there are any. A commit takes 90 µs with
    /// observers, 40 µs without, and 2 µs on noop.
    private func costs(_ spec: TrialSpec) -> TrialResult {
        var result = TrialResult(fate: .completed)
        let perCommitNs: Int64 = spec.driver == "noop" ? 2_000 : spec.observers.count > 0 ? 90_000 : 40_000
        result.cpu = account(perCommitNs * 100, commits: 100, affecting: spec.observers.count > 0 ? 50 : 0)
        return result
    }

    @Test func upkeepIsChargedToTheCommitsThatAffectSomeone() throws {
        let (outcome, executor, told) = try run([spec([.upkeepCost, .harnessCost])], costs)
        #expect(outcome == .pass)
        #expect(executor.ran.map(\.driver) == ["model", "model", "noop"])
        #expect(executor.ran.map(\.observers.count) == [2, 0, 2])
        // (90 - 40) µs over 100 commits, of which 50 affect an observer.
        #expect(told.value(.upkeepCost) == 100_000)
        #expect(told.value(.harnessCost) == 2_000)
        #expect(told.figures.allSatisfy { $0.spec.driver == "model" })
    }

    @Test func companionsRunOnlyWhereTheyAreAskedForAndTakeTurns() throws {
        let (_, plain, _) = try run([spec([.endToEndLatency])], costs)
        #expect(plain.ran.count == 1)
        let (_, turns, _) = try run((0..<2).map { spec([.upkeepCost], trial: $0) }, costs)
        #expect(turns.ran.map(\.observers.count) == [2, 0, 0, 2])
    }

    /// The cost of the harness does not depend on the driver, so drivers share the companion trial.
    @Test func driversAtOnePointShareTheTrialOnTheNoopDriver() throws {
        let trials = (0..<2).flatMap { trial in
            ["model", "crash"].map { driver in
                var spec = self.spec([.harnessCost], trial: trial)
                spec.driver = driver
                return spec
            }
        }
        let (_, executor, told) = try run(trials, costs)
        // The second repetition begins with the companion trial.
        #expect(executor.ran.map(\.driver) == ["model", "noop", "crash", "noop", "model", "crash"])
        #expect(
            told.figures.filter { $0.figure.metric == .harnessCost }.map(\.figure.value) == [
                2_000, 2_000, 2_000, 2_000,
            ])
        // A companion trial that did not complete is tried again.
        let (_, again, _) = try run(Array(trials.prefix(2))) {
            $0.driver == "noop" ? TrialResult(fate: .hang) : self.costs($0)
        }
        #expect(again.ran.map(\.driver) == ["model", "noop", "crash", "noop"])
    }

    @Test func anUnjudgedDriverIsMeasuredAndNotJudged() throws {
        let trials = ["model", "crash"].map { driver in
            var spec = self.spec([.processCPU])
            spec.driver = driver
            return spec
        }
        func slow(_ driver: String) throws -> (Outcome, Told) {
            let limits = [Limit(.processCPU, .lessOrEqual, 20)]
            let (outcome, _, told) = try run(trials, limits: limits, unjudged: ["crash"]) { spec in
                var result = TrialResult(fate: .completed)
                result.figures = [Figure(.processCPU, .value, spec.driver == driver ? 30 : 10, n: 1)]
                return result
            }
            return (outcome, told)
        }
        let (outcome, told) = try slow("crash")
        #expect(outcome == .pass && told.judgements.map(\.driver) == ["model"])
        #expect(told.figures.contains { $0.spec.driver == "crash" && $0.figure.value == 30 })
        #expect(try slow("model").0 == .limitBroken)
    }

    @Test func aCostUnderThriceTheHarnessIsAtTheFloor() throws {
        for (noopNs, isAtFloor) in [(Int64(30_000), false), (40_000, true)] {
            let (_, _, told) = try run([spec([.upkeepCost, .harnessCost])]) { spec in
                var result = self.costs(spec)
                if spec.driver == "noop" { result.cpu = account(noopNs * 100, commits: 100, affecting: 50) }
                return result
            }
            let figure = try #require(told.figures.first { $0.figure.metric == .upkeepCost }?.figure)
            #expect(figure.flags.contains(.atFloor) == isAtFloor)
        }
    }

    @Test func withoutABaselineThereIsNoUpkeepCost() throws {
        let (outcome, _, told) = try run([spec([.upkeepCost])]) { spec in
            spec.observers.count > 0 ? self.costs(spec) : TrialResult(fate: .crashed(signal: "SIGSEGV"))
        }
        #expect(outcome == .fault)
        let figure = try #require(told.figures.first { $0.figure.metric == .upkeepCost }?.figure)
        #expect(figure.value == nil && figure.flags == [.noBaseline])
    }

    @Test func theExponentIsTheSlopeOverTheMediansOfEachPoint() throws {
        var trials: [TrialSpec] = []
        for trial in 0..<3 {
            for items in [100, 1_000, 10_000] {
                trials.append(
                    spec([.upkeepCost, .upkeepExponent], trial: trial, variant: "dataset.items=\(items)", items: items))
            }
        }
        // The cost is proportional to the square root of the number of items. One trial in three is spoilt.
        let (_, _, told) = try run(trials) { spec in
            var result = TrialResult(fate: .completed)
            let costNs = spec.trial == 1 ? 9e9 : Double(spec.dataset.items).squareRoot() * 1e5
            let processNs = spec.observers.count > 0 ? Int64(costNs) : 0
            result.cpu = account(processNs, commits: 1, affecting: 1)
            return result
        }
        #expect(abs(told.value(.upkeepExponent, variant: "*")! - 0.5) < 0.001)
        #expect(told.figures.filter { $0.spec.variant == "*" }.allSatisfy { $0.spec.trial == 0 })
    }

    /// Counters of an engine have an exponent, and limits on both are judged, also for an unjudged driver.
    @Test func aCounterOfAnEngineHasAnExponentAndItsLimits() throws {
        let rows = Metric.engine(counter: "rows_read")
        let exponent = Metric.engineExponent(counter: "rows_read")
        let trials = [100, 1_000].map { spec([.processCPU], variant: "dataset.items=\($0)", items: $0) }
        let limits = [
            Limit(rows, .lessOrEqual, 20), Limit(exponent, .less, 0.9), Limit(.processCPU, .less, 0),
        ]
        let (outcome, _, told) = try run(trials, limits: limits, unjudged: ["model"]) { spec in
            var result = TrialResult(fate: .completed)
            result.figures = [
                Figure(rows, .value, Double(spec.dataset.items) / 10, n: 100), Figure(.processCPU, .value, 5, n: 100),
            ]
            return result
        }
        #expect(told.value(exponent, variant: "*").map { abs($0 - 1) < 0.001 } == true)
        #expect(told.judgements.map(\.verdict) == [.kept, .broken, .broken])
        #expect(outcome == .limitBroken)
    }

    @Test func growthIsThatOfEachRepetition() throws {
        var trials: [TrialSpec] = []
        for trial in 0..<3 {
            for idleQueries in [1, 10, 100] {
                var spec = spec([.upkeepGrowth], trial: trial, variant: "observers.idle_queries=\(idleQueries)")
                spec.observers.idleQueries = idleQueries
                spec.dataset.groups = 100
                spec.measure.append(Metric.upkeepCost.rawValue)
                trials.append(spec)
            }
        }
        // The machine is slower by half in every repetition. A hundred idle queries cost a fifth more than one.
        let (_, executor, told) = try run(trials) { spec in
            var result = TrialResult(fate: .completed)
            let factor = [1.0, 1.5, 2.25][spec.trial] * (spec.observers.idleQueries == 100 ? 1.2 : 1)
            result.cpu = account(spec.observers.count > 0 ? Int64(factor * 1e6) : 0, commits: 1, affecting: 1)
            return result
        }
        #expect(abs(told.value(.upkeepGrowth, variant: "*")! - 1.2) < 0.001)
        // Trials without observers have the same rows.
        #expect(Set(executor.ran.map(\.dataset.groups)) == [100])
    }

    @Test func aPeerIsComparedWithTheReferenceAtTheSamePoint() throws {
        var trials: [TrialSpec] = []
        for trial in 0..<2 {
            for (driver, items) in [("model", 10), ("crash", 10), ("model", 20), ("crash", 20)] {
                var spec = spec([.upkeepRatio], trial: trial, variant: "dataset.items=\(items)", items: items)
                spec.driver = driver
                trials.append(spec)
            }
        }
        func cost(_ spec: TrialSpec) -> TrialResult {
            var result = TrialResult(fate: .completed)
            // The peer costs 30 and 60 times as much, at any speed of the machine.
            let costNs = Double(spec.driver == "crash" ? spec.dataset.items * 3 : 1) * (spec.trial == 0 ? 1e5 : 3e5)
            result.cpu = account(spec.observers.count > 0 ? Int64(costNs) : 0, commits: 1, affecting: 1)
            return result
        }
        let limits = [Limit(.upkeepRatio, .greaterOrEqual, 50)]
        let (outcome, _, told) = try run(trials, limits: limits, reference: "model", cost)
        let ratios = told.figures.filter { $0.figure.metric == .upkeepRatio }
        #expect(ratios.map(\.spec.driver) == ["crash", "crash", "crash", "crash"])
        #expect(ratios.map { $0.figure.value?.rounded() } == [30, 60, 30, 60])
        #expect(outcome == .limitBroken)
        #expect(told.judgements.map(\.verdict) == [.broken, .kept])
        // A peer alone has no reference.
        let alone = trials.filter { $0.driver == "crash" }
        let (unknown, _, heard) = try run(alone, limits: limits, reference: "model", cost)
        #expect(heard.figures.contains { $0.figure.flags == [.noReference] && $0.figure.value == nil })
        #expect(unknown == .pass)
    }

    @Test func theObservedRateIsComparedWithThatOfThePairedTrial() throws {
        let (_, executor, told) = try run([spec([.observedRateRatio])]) { spec in
            var result = TrialResult(fate: .completed)
            let rateHz = spec.observers.count > 0 ? 60_000.0 : 80_000
            result.cpu = account(1, commits: 1, affecting: 1)
            result.figures = [Figure(.achievedRate, .value, rateHz, n: 1)]
            return result
        }
        #expect(told.value(.observedRateRatio) == 0.75)
        #expect(executor.ran.last?.measure.contains(Metric.achievedRate.rawValue) == true)
    }

    @Test func eachFamilyOfObserversHasItsOwnCost() throws {
        var trials: [TrialSpec] = []
        for (queries, count) in [("same", 0), ("same", 100), ("ranges", 10), ("ranges", 20), ("alone", 5)] {
            var spec = spec([.fanoutCost], variant: "observers.count=\(count);observers.queries=\(queries)")
            spec.observers.count = count
            trials.append(spec)
        }
        let (_, _, told) = try run(trials) { spec in
            var result = TrialResult(fate: .completed)
            let perObserverNs: Int64 = spec.variant.contains("ranges") ? 7 : 3
            result.cpu = account(1_000 + perObserverNs * Int64(spec.observers.count), commits: 1, affecting: 1)
            return result
        }
        let costs = told.figures.map(\.figure).filter { $0.metric == .fanoutCost && $0.statistic == .value }
        #expect(costs.map(\.value) == [7, 3])
        #expect(costs[0].flags == [.over(key: "observers.count"), .at(point: "observers.queries=ranges")])
        #expect(told.value(.fanoutCost, .low, variant: "*") == 1_000)
    }

    @Test func limitsAreJudgedPerPointByMediansAndCountsByTheWorst() throws {
        let trials = (0..<3).map { spec([.processCPU, .missedFinal], trial: $0, variant: "dataset.items=1") }
        let limits = [
            Limit(.processCPU, .lessOrEqual, 20), Limit(.missedFinal, .equal, 0),
            Limit(.processCPU, .less, 1, at: ["dataset.items": "2"]), Limit(.processCPU, statistic: "p99", .less, 1),
        ]
        let (outcome, _, told) = try run(trials, limits: limits) { spec in
            var result = TrialResult(fate: .completed)
            result.figures = [
                Figure(.processCPU, .value, [10, 20, 9_000][spec.trial], n: 1),
                Figure(.missedFinal, .value, [0, 1, 0][spec.trial], n: 1),
            ]
            return result
        }
        #expect(outcome == .limitBroken)
        #expect(told.judgements.map(\.verdict) == [.kept, .broken, .unknown])
        #expect(told.judgements[0].text == "model dataset.items=1: process_cpu.value <= 20 ns: 20 ns")
    }

    @Test func aFigureWithoutAValueLeavesItsLimitOpen() throws {
        let limits = [Limit(.processCPU, .lessOrEqual, 20)]
        let (outcome, _, told) = try run([spec([.processCPU])], limits: limits) { _ in
            var result = TrialResult(fate: .completed)
            result.figures = [Figure(.processCPU, .value, nil, n: 0)]
            return result
        }
        #expect(outcome == .pass)
        #expect(told.judgements.map(\.verdict) == [.unknown])
    }

    @Test func aDriverIsSkippedOnceWithItsReason() throws {
        var trials = (0..<2).map { spec([.processCPU], trial: $0) }
        for index in trials.indices { trials[index].durability = "full" }
        let (outcome, executor, told) = try run(trials, costs)
        #expect(outcome == .pass)
        #expect(executor.ran.isEmpty)
        #expect(told.skipped == ["model: it has no durability 'full'"])
    }

    @Test func anInterruptionEndsTheRunAndKeepsWhatThereIs() throws {
        let interruption = Interruption()
        let told = Told()
        let executor = CannedTrials(costs)
        told.afterTrial = { if executor.ran.count == 2 { interruption.raise() } }
        let runner = Runner(
            drivers: [ModelDriver()], executor: executor, interruption: interruption, delegate: told)
        let trials = (0..<5).map { spec([.processCPU], trial: $0) }
        let outcome = try runner.run([.init(scenario: "tiny", limits: [], trials: trials)])
        #expect(outcome == .interrupted)
        #expect(executor.ran.count == 2)
        #expect(told.figures.map(\.spec.trial) == [0, 1])
    }

    @Test func theWorstOutcomeWins() {
        let worst: [(TrialFate, Outcome)] = [
            (.completed, .pass), (.oracleViolation, .oracleViolation), (.hang, .hang), (.crashed(signal: "x"), .fault),
            (.killed(signal: "x"), .fault), (.harnessFault(reason: "x"), .fault), (.interrupted, .interrupted),
        ]
        for (fate, outcome) in worst { #expect(Outcome(fate, isUnavailable: false) == outcome) }
        #expect(Outcome.allCases.reduce(Outcome.pass) { $0.worse($1) } == .interrupted)
        #expect(Outcome.limitBroken.worse(.inconclusive) == .limitBroken)
        #expect(Outcome.limitBroken.worse(.oracleViolation) == .oracleViolation)
        #expect(Outcome.hang.worse(.oracleViolation) == .hang)
    }
}

@Suite struct SteadyStateTests {
    private func steadiness(seconds: Int = 4, _ value: (Double) -> Double) -> Bool? {
        let window = Window(startNs: 0, endNs: Int64(seconds) * 1_000_000_000)
        var series = IntervalSeries(startNs: window.startNs, endNs: window.endNs)
        for ns in stride(from: Int64(0), to: window.endNs, by: 10_000_000) {
            series.add(atNs: ns, value: value(Double(ns) / 1e9))
        }
        return series.isSteady
    }

    @Test func aDriftBeyondTwoPercentPerSecondIsNotSteady() {
        #expect(steadiness { 100 + 10 * $0 } == false)
        #expect(steadiness { 100 - 10 * $0 } == false)
        #expect(steadiness { 100 + $0 } == true)
        #expect(steadiness { _ in 100 } == true)
    }

    @Test func noiseIsNoDrift() {
        var random = RandomSource(seed: 11, stream: 0)
        #expect(steadiness { _ in 100 + 100 * random.unit() } == true)
    }

    @Test func aShortWindowSaysNothing() {
        #expect(steadiness(seconds: 1) { 100 + 50 * $0 } == nil)
    }
}
