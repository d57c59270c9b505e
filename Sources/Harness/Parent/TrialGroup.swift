// A measured trial and the companions that its figures need: the same without observers, for what subscriptions cost, and
// the same on the null driver, for what the harness costs. Which goes first alternates, so that drift of the machine
// cancels over trials.
import Measure
import Scenario

struct TrialGroup {
    enum Role {
        case measured, baseline, null
    }

    let spec: TrialSpec
    /// In the order to run.
    let members: [(role: Role, spec: TrialSpec)]

    init(_ spec: TrialSpec) {
        self.spec = spec
        let asked = Set(spec.measure.compactMap { Metric(rawValue: $0) })
        var members: [(role: Role, spec: TrialSpec)] = [(.measured, spec)]
        if asked.contains(where: \.needsBaseline), spec.observers.count + spec.observers.bystanders > 0 {
            members.append((.baseline, Self.baseline(spec)))
        }
        if asked.contains(.harnessCost), spec.driver != "null" { members.append((.null, Self.null(spec))) }
        self.members = spec.trial.isMultiple(of: 2) ? members : members.reversed()
    }

    private static func baseline(_ spec: TrialSpec) -> TrialSpec {
        var baseline = spec
        baseline.observers.count = 0
        baseline.observers.bystanders = 0
        baseline.observers.calls = .none
        baseline.observers.subscribe = .idle
        baseline.measure = [Metric.processCPU.rawValue, Metric.achievedRate.rawValue]
        return baseline
    }

    private static func null(_ spec: TrialSpec) -> TrialSpec {
        var null = spec
        null.driver = "null"
        return null
    }
}

/// The figures of a group, under the measured trial's name.
struct GroupFigures {
    /// A metric under so many times its floor says more about the harness than about the store.
    private static let floorFactor = 3.0

    let spec: TrialSpec
    let measured: TrialResult
    let baseline: TrialResult?
    let null: TrialResult?

    func figures() -> [Figure] {
        let asked = Set(spec.measure.compactMap { Metric(rawValue: $0) })
        var figures = measured.figures
        if measured.cpu != nil {
            if !asked.isDisjoint(with: [.upkeepCost, .upkeepRatio]), spec.observers.count > 0 {
                figures.append(upkeepCost)
            }
            if asked.contains(.harnessCost) { figures.append(harnessCost) }
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
        let floor = harnessCost.value.map { $0 * Self.floorFactor } ?? 0
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

    private var harnessCost: Figure {
        let account = spec.driver == "null" ? measured.cpu : null?.cpu
        return Figure(.harnessCost, .value, account?.perCommitNs, n: account?.commits ?? 0)
    }

    /// Marks a time that the null driver nearly reaches too.
    private func atFloor(_ figure: Figure) -> Figure {
        guard let value = figure.value, figure.metric.unit == "ns" || figure.metric.unit == "ns/commit",
            figure.statistic != .count, figure.metric != .harnessHiccup,
            let floor = null?.figures.first(where: {
                $0.metric == figure.metric && $0.statistic == figure.statistic
            })?.value, value < Self.floorFactor * floor
        else { return figure }
        var marked = figure
        marked.flags.append("at_floor")
        return marked
    }
}
