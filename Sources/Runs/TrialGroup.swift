// A measured trial and the companions that its figures need: the same without observers, for what subscriptions cost, and
// the same on the no-op driver, for what the harness costs. Which goes first alternates, so that drift of the machine
// cancels over trials.
import Measure
import Scenario
import Trials

struct TrialGroup {
    enum Role {
        case measured, baseline, noop
    }

    let spec: TrialSpec
    /// In the order to run.
    let members: [(role: Role, spec: TrialSpec)]

    init(_ spec: TrialSpec) {
        self.spec = spec
        let asked = Set(spec.measure.compactMap { Metric(rawValue: $0) })
        let subscriptions = spec.observers.count + spec.observers.bystanders
        var members: [(role: Role, spec: TrialSpec)] = [(.measured, spec)]
        if asked.contains(where: \.needsBaseline), subscriptions > 0 {
            members.append((.baseline, Self.baseline(spec)))
        }
        if asked.contains(.harnessCost), spec.driver != "noop" { members.append((.noop, Self.noop(spec))) }
        self.members = spec.trial.isMultiple(of: 2) ? members : members.reversed()
    }

    private static func baseline(_ spec: TrialSpec) -> TrialSpec {
        var baseline = spec
        baseline.observers.count = 0
        baseline.observers.bystanders = 0
        baseline.observers.calls = .none
        baseline.observers.subscribe = .idle
        baseline.observers.audit = .none
        baseline.observers.operators = 0
        // What counts allocations allocates nothing itself, but asks for them to be counted.
        let counting = spec.measure.filter { Metric(rawValue: $0)?.countsAllocations ?? false }
        baseline.measure =
            [Metric.processCPU, .achievedRate, .writeServiceTime].map(\.rawValue) + counting
        return baseline
    }

    private static func noop(_ spec: TrialSpec) -> TrialSpec {
        var noop = spec
        noop.driver = "noop"
        return noop
    }
}

/// The figures of a group, under the measured trial's name.
struct GroupFigures {
    let spec: TrialSpec
    let measured: TrialResult
    let baseline: TrialResult?
    let noop: TrialResult?

    func figures() -> [Figure] {
        let asked = Set(spec.measure.compactMap { Metric(rawValue: $0) })
        var figures = measured.figures
        if measured.cpu != nil {
            if !asked.isDisjoint(with: [.upkeepCost, .upkeepRatio]), spec.observers.count > 0 {
                figures.append(upkeepCost)
            }
            if asked.contains(.harnessCost) { figures.append(harnessCost) }
            if asked.contains(.unsubscribedCost) { figures.append(unsubscribedCost) }
        }
        if spec.observers.count > 0 {
            if asked.contains(.writerPenalty) { figures.append(writerPenalty) }
            if asked.contains(.upkeepAllocations) { figures.append(allocations(.upkeepAllocations) { $0.count }) }
            if asked.contains(.upkeepBytes) { figures.append(allocations(.upkeepBytes) { $0.bytes }) }
        }
        if asked.contains(.observedRateRatio), spec.observers.count > 0 { figures.append(observedRateRatio) }
        return figures.map(atFloor) + [measured.fate.figure]
    }

    /// Process CPU with subscriptions less that without, per affecting commit.
    private var upkeepCost: Figure {
        guard let with = measured.cpu, let without = baseline?.cpu?.perCommitNs, with.affectingCommits > 0 else {
            return Figure(.upkeepCost, .value, nil, n: 0, flags: ["no_baseline"])
        }
        // Per commit and not in all: in a closed loop the two do not make the same number of commits.
        let extraNs = Double(with.processNs) - without * Double(with.commits)
        let cost = extraNs / Double(with.affectingCommits)
        let floor = harnessCost.value.map { $0 * Figure.floorFactor } ?? 0
        return Figure(
            .upkeepCost, .value, cost, n: with.affectingCommits, flags: cost < floor ? ["at_floor"] : [])
    }

    /// Commits per second with subscriptions, over those without.
    private var observedRateRatio: Figure {
        func rate(_ result: TrialResult?) -> Double? { result?.figures.first { $0.metric == .achievedRate }?.value }
        guard let with = rate(measured), let without = rate(baseline), without > 0 else {
            return Figure(.observedRateRatio, .value, nil, n: 0, flags: ["no_baseline"])
        }
        return Figure(.observedRateRatio, .value, with / without, n: 1)
    }

    /// Median time of a commit with subscriptions, over that without.
    private var writerPenalty: Figure {
        func median(_ result: TrialResult?) -> Figure? {
            result?.figures.first { $0.metric == .writeServiceTime && $0.statistic == .p50 }
        }
        guard let with = median(measured)?.value, let without = median(baseline)?.value, without > 0 else {
            return Figure(.writerPenalty, .value, nil, n: 0, flags: ["no_baseline"])
        }
        return Figure(.writerPenalty, .value, with / without, n: median(measured)?.n ?? 0)
    }

    /// What subscriptions allocate per affecting commit, as `upkeepCost` does for the CPU.
    private func allocations(_ metric: Metric, _ part: (AllocationTotals) -> Int64) -> Figure {
        guard let with = measured.allocations, let without = baseline?.allocations, without.commits > 0,
            with.affectingCommits > 0
        else {
            // A build that does not count says so by the missing figure; one that counts misses its companion.
            let flags = measured.allocations != nil ? ["no_baseline"] : []
            return Figure(metric, .value, nil, n: 0, flags: flags)
        }
        let each = Double(part(without.process)) / Double(without.commits)
        let extra = Double(part(with.process)) - each * Double(with.commits)
        return Figure(metric, .value, extra / Double(with.affectingCommits), n: with.affectingCommits)
    }

    /// CPU of a commit when all observers have gone, less that of a store that nobody ever observed.
    private var unsubscribedCost: Figure {
        guard let with = measured.cpu, let after = with.perCommitNs, let never = baseline?.cpu?.perCommitNs else {
            return Figure(.unsubscribedCost, .value, nil, n: 0, flags: ["no_baseline"])
        }
        return Figure(.unsubscribedCost, .value, after - never, n: with.commits)
    }

    private var harnessCost: Figure {
        let account = spec.driver == "noop" ? measured.cpu : noop?.cpu
        return Figure(.harnessCost, .value, account?.perCommitNs, n: account?.commits ?? 0)
    }

    /// Marks a time that the no-op driver nearly reaches too.
    private func atFloor(_ figure: Figure) -> Figure {
        guard let value = figure.value, figure.metric.unit == "ns" || figure.metric.unit == "ns/commit",
            figure.statistic != .count, figure.metric != .harnessHiccup,
            let floor = noop?.figures.first(where: {
                $0.metric == figure.metric && $0.statistic == figure.statistic
            })?.value, value < Figure.floorFactor * floor
        else { return figure }
        var marked = figure
        marked.flags.append("at_floor")
        return marked
    }
}
