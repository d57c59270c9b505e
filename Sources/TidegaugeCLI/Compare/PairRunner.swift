// Runs pairs: both sides of each point in separate processes, interleaved in slices of milliseconds if the load can
// pause and the engine runs in these processes, else one directly after the other.
import Foundation
import StillingWellSync
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeRun
import TidegaugeSpec
import TidegaugeTrial

final class PairRunner {
    // Unchecked because one thread at a time runs a side.
    private final class Side: @unchecked Sendable {
        let child: ChildProcess
        let runner: SideRunner
        let shim: Shim?

        init(_ folder: String, _ binary: OtherBinary, _ shim: Shim?, _ interruption: Interruption) {
            child = ChildProcess(directory: folder, interruption: interruption, other: binary)
            runner = SideRunner(child)
            self.shim = shim
        }

        func run(_ spec: TrialSpec, _ paddingBytes: Int) -> SideTrial {
            var spec = spec
            spec.shim = shim
            child.paddingBytes = paddingBytes
            return SideTrial(runner.run(spec), spec)
        }
    }

    private let plan: ComparisonPlan
    private let base: Side
    private let head: Side
    private let interruption: Interruption

    /// - Parameter folder: folder for trials. Failed ones leave their log there.
    init(
        _ plan: ComparisonPlan, _ binaries: (base: OtherBinary, head: OtherBinary), folder: String,
        _ interruption: Interruption
    ) {
        (self.plan, self.interruption) = (plan, interruption)
        base = Side("\(folder)/base", binaries.base, plan.base.shim, interruption)
        head = Side("\(folder)/head", binaries.head, plan.head.shim, interruption)
    }

    /// Returns nil if it was interrupted before the pair was complete.
    func run(_ assignment: ComparisonEngine.Assignment, atSeconds: Double) -> PairRecord? {
        let startNs = MonotonicClock.nowNs()
        var points: [PointPair] = []
        for (point, headFirst) in zip(plan.subjects[assignment.subject].points, assignment.headFirst) {
            var spec = point
            spec.trial = assignment.number
            spec.seed = assignment.seed
            let sides = headFirst ? (head, base) : (base, head)
            // Interleaving pauses the writers, but not an engine in a process of its own.
            let takesTurns = spec.canTakeTurns && plan.head.engines == nil
            let (first, second) =
                takesTurns
                ? inTurns(spec, sides, assignment.paddingBytes) : oneByOne(spec, sides, assignment.paddingBytes)
            guard let second, !interruption.isRaised else { return nil }
            points.append(
                PointPair(
                    variant: point.variant, headFirst: headFirst, inTurns: takesTurns ? true : nil,
                    base: headFirst ? second : first, head: headFirst ? first : second))
        }
        return PairRecord(
            subject: assignment.subject, number: assignment.number, stage: assignment.stage, atSeconds: atSeconds,
            lengthSeconds: Double(MonotonicClock.nowNs() - startNs) / 1e9, points: points,
            void: plan.rule.reason(points))
    }

    /// Runs the sides one after the other. The second result is nil after an interruption.
    private func oneByOne(_ spec: TrialSpec, _ sides: (Side, Side), _ paddingBytes: Int) -> (SideTrial, SideTrial?) {
        let first = sides.0.run(spec, paddingBytes)
        return (first, interruption.isRaised ? nil : sides.1.run(spec, paddingBytes))
    }

    private func inTurns(_ spec: TrialSpec, _ sides: (Side, Side), _ paddingBytes: Int) -> (SideTrial, SideTrial?) {
        let rendezvous = Rendezvous(parties: 2)
        @Sendable func run(_ side: Side, isSecond: Bool) -> SideTrial {
            var spec = spec
            spec.turns = TurnsSpec(isSecond: isSecond, core: spec.trial)
            side.runner.begin = { rendezvous.meet() }
            defer {
                side.runner.begin = {}
                rendezvous.leave()
            }
            return side.run(spec, paddingBytes)
        }
        let second = Guarded<SideTrial?>("second side", nil)
        let thread = TracedThread("second side") {
            let trial = run(sides.1, isSecond: true)
            second.withLock { $0 = trial }
        }
        let first = run(sides.0, isSecond: false)
        thread.join()
        return (first, second.withLock { $0 })
    }
}

extension SideTrial {
    init(_ run: SideRun, _ spec: TrialSpec) {
        let own = run.figures.compactMap { figure in
            figure.value.map { Value(FigureName(figure.metric.rawValue, figure.statistic.rawValue), $0) }
        }
        let foreign = (run.result.foreign ?? []).compactMap { figure in
            figure.value.map { Value(FigureName(figure.metric, figure.statistic), $0) }
        }
        let isPaced = spec.writers.load == .open
        let tails = Self.tails(run.result, beside: own)
        self.init(
            fate: run.result.fate, values: own + foreign + tails + (spec.turns == nil ? [Self.switches(run)] : []),
            samples: run.result.recordings.histograms.map(\.samplesAlone), noise: run.noise,
            dueCommits: isPaced ? run.result.counts["measured_commits"] : nil,
            notes: run.result.fate == .completed ? [] : run.result.notes + run.result.violations)
    }

    /// Minimum number of samples for a p99 of one pair among many, lower than that of a reported p99.
    private static let fewestTailSamples: UInt64 = 100

    /// Number of voluntary context switches of this process and its children, which shows additional waiting and
    /// waking. It covers whole trials including loading, so it is not a metric for scenarios. The kernel sums over all
    /// children, so it is left out if the sides ran at the same time.
    private static func switches(_ run: SideRun) -> Value {
        Value(FigureName("voluntary_switches", "value"), Double(run.voluntarySwitches))
    }

    private static func tails(_ result: TrialResult, beside own: [Value]) -> [Value] {
        result.recordings.histograms.compactMap { record in
            let name = FigureName(record.metric.rawValue, Statistic.p99.rawValue)
            guard !own.contains(where: { $0.name == name }) else { return nil }
            return record.p99(fewest: fewestTailSamples).map { Value(name, $0) }
        }
    }
}

extension HistogramRecord {
    fileprivate func p99(fewest: UInt64) -> Double? {
        var distribution = ValueDistribution()
        guard (try? distribution.add(samples: samples, negated: negated)) != nil, distribution.total >= fewest else {
            return nil
        }
        let rank = UInt64((0.99 * Double(distribution.total)).rounded(.up))
        return distribution.cumulative().first { $0.samples >= rank }.map { Double($0.value) }
    }
}
