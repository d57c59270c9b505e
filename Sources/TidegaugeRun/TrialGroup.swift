// A measured trial and the companions that its figures need: the same trial without observers (cost of subscriptions),
// on the no-op driver (cost of the harness), and counted. The order alternates, so that drift cancels over trials.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

struct TrialGroup {
    /// Role of a trial in the group, as shown to people.
    enum Role: String {
        case measured
        case baseline = "without observers"
        case noop = "no-op driver"
        case counted
    }

    let spec: TrialSpec
    /// Whether the trial's own driver does nothing.
    let isEmpty: Bool
    /// Trials in the order of execution.
    let members: [(role: Role, spec: TrialSpec)]

    /// - Parameters:
    ///   - counter: counter of this machine; nil: nothing is counted.
    ///   - empty: driver that does nothing, to measure the cost of the harness (`EngineFacts.emptyDriver`), or nil if
    ///     the trial's own driver does nothing.
    ///   - capabilities: those of the trial's driver, or nil if a counted trial needs no check.
    init(
        _ spec: TrialSpec, counter: InstructionCounter? = nil, beside empty: String?, capabilities: Capabilities? = nil
    ) {
        self.spec = spec
        let asked = spec.metrics
        let subscriptions = spec.observers.count + spec.observers.idleQueries
        var members: [(role: Role, spec: TrialSpec)] = [(.measured, spec)]
        if asked.contains(where: \.needsBaseline), subscriptions > 0 {
            members.append((.baseline, Self.baseline(spec)))
        }
        isEmpty = empty == nil
        if let empty, asked.contains(where: \.needsNoop) {
            var noop = spec
            noop.driver = empty
            // The no-op trial uses its own server, without the delay of a standby.
            (noop.serverURL, noop.serverStandbyNs) = (nil, nil)
            members.append((.noop, noop))
        }
        if let counted = Self.counted(spec, by: counter),
            capabilities.flatMap({ CapabilityCheck.obstacle(counted, $0) }) == nil
        {
            members.append((.counted, counted))
        }
        self.members = spec.trial.isMultiple(of: 2) ? members : members.reversed()
    }

    /// Returns the counted companion that the metrics of a trial need, or nil. Further repetitions would give the same
    /// counts.
    static func counted(_ spec: TrialSpec, by counter: InstructionCounter?) -> TrialSpec? {
        guard let counter, spec.count == nil, spec.trial == 0, spec.metrics.contains(where: \.isOfCountedTrial) else {
            return nil
        }
        return spec.counted(by: counter.rawValue)
    }

    private static func baseline(_ spec: TrialSpec) -> TrialSpec {
        var baseline = spec
        (baseline.observers.count, baseline.observers.idleQueries, baseline.observers.publisherChainLength) = (0, 0, 0)
        (baseline.observers.calls, baseline.observers.subscribe, baseline.observers.audit) = (.none, .idle, .none)
        (baseline.observers.besideWriters, baseline.observers.hosts) = (nil, nil)
        // Metrics that count allocations are requested so that allocations of the baseline are counted.
        let counting = spec.metrics.filter(\.countsAllocations)
        baseline.measure = ([.processCPU, .achievedRate, .writeServiceTime] + counting).map(\.rawValue)
        return baseline
    }
}

/// The figures of a group, reported under the measured trial.
struct GroupFigures {
    let spec: TrialSpec
    /// Whether the driver does nothing, so that the measured trial is the cost of the harness.
    let isEmpty: Bool
    let measured: TrialResult
    let baseline: TrialResult?
    let noop: TrialResult?
    /// The counted trial: the measured trial itself, or a companion if the measured trial is timed.
    let counted: TrialResult?
    /// Reasons for repeating the trial.
    var voids: [String] = []
    /// Disturbance of the trial or its baseline, or nil.
    var disturbance: String?

    init(_ group: TrialGroup, _ measured: TrialResult, beside results: [TrialGroup.Role: TrialResult]) {
        (spec, isEmpty) = (group.spec, group.isEmpty)
        (self.measured, baseline, noop) = (measured, results[.baseline], results[.noop])
        counted = measured.count == nil ? results[.counted] : measured
    }

    /// Providers in the order of rows. They return nil if the metric does not apply.
    static let providers: [(key: Metric, value: @Sendable (GroupFigures) -> Figure?)] = uncounted.map { $0 } + counted

    /// Providers of all counted metrics.
    private static let counted = Metric.allCases.filter(\.isOfCountedTrial).map { metric in
        (key: metric, value: { @Sendable (group: GroupFigures) in group.counted(metric) })
    }

    private static let uncounted: KeyValuePairs<Metric, @Sendable (GroupFigures) -> Figure?> = [
        .upkeepCost: { $0.measured.cpu == nil ? nil : $0.upkeepCost },
        .harnessCost: { $0.measured.cpu == nil ? nil : $0.harnessCost },
        .unsubscribedCost: { $0.measured.cpu == nil ? nil : $0.unsubscribedCost },
        .writerPenalty: { $0.ratio(.writerPenalty, of: .writeServiceTime, .p50) },
        .upkeepAllocations: { $0.allocations(.upkeepAllocations) { $0.count } },
        .upkeepBytes: { $0.allocations(.upkeepBytes) { $0.bytes } },
        .observedRateRatio: { $0.ratio(.observedRateRatio, of: .achievedRate, .value, n: 1) },
        .trialOutcome: { $0.trialOutcome },
        .voidedTrials: { $0.voidedTrials },
    ]

    func figures() -> [Figure] {
        let needed = spec.neededMetrics
        let own = Self.providers.filter { metric, _ in
            needed.contains(metric) && (spec.observers.count > 0 || !metric.needsObservers)
        }
        return (measured.figures + own.compactMap { $0.value(self) }).map(atFloor)
    }

    private var trialOutcome: Figure {
        var figure = measured.fate.figure
        if measured.fate == .completed, let rateHz = measured.saturationHz {
            figure.flags.append(.saturated(rateHz: rateHz))
        }
        if let disturbance { figure.flags.append(.noisy(reason: disturbance)) }
        return figure
    }

    private var voidedTrials: Figure? {
        let flags = voids.map { FigureFlag.void(reason: $0) }
        return voids.isEmpty ? nil : Figure(.voidedTrials, .value, Double(voids.count), n: 1, flags: flags)
    }

    /// Process CPU with subscriptions minus that without, per affecting commit.
    private var upkeepCost: Figure {
        guard let with = measured.cpu, let without = baseline?.cpu?.perCommitNs, with.affectingCommits > 0 else {
            return Figure(.upkeepCost, .value, nil, n: 0, flags: [.noBaseline])
        }
        // Scaled per commit, because in a closed loop the two trials make different numbers of commits.
        let cost = (Double(with.processNs) - without * Double(with.commits)) / Double(with.affectingCommits)
        let floor = harnessCost.value.map { $0 * Figure.floorFactor } ?? 0
        return Figure(.upkeepCost, .value, cost, n: with.affectingCommits, flags: cost < floor ? [.atFloor] : [])
    }

    /// Ratio of a figure with subscriptions to that without.
    private func ratio(_ metric: Metric, of part: Metric, _ statistic: Statistic, n: Int? = nil) -> Figure {
        func find(_ result: TrialResult?) -> Figure? {
            result?.figures.first { $0.metric == part && $0.statistic == statistic }
        }
        let with = find(measured)
        guard let value = with?.value, let without = find(baseline)?.value, without > 0 else {
            return Figure(metric, .value, nil, n: 0, flags: [.noBaseline])
        }
        return Figure(metric, .value, value / without, n: n ?? with?.n ?? 0)
    }

    /// Allocations by subscriptions per affecting commit, computed like `upkeepCost`.
    private func allocations(_ metric: Metric, _ part: (AllocationTotals) -> Int64) -> Figure {
        guard let with = measured.allocations, let without = baseline?.allocations, without.commits > 0,
            with.affectingCommits > 0
        else {
            // A machine without counters of the allocator needs no flag.
            let flags: [FigureFlag] = measured.allocations != nil ? [.noBaseline] : []
            return Figure(metric, .value, nil, n: 0, flags: flags)
        }
        let each = Double(part(without.process)) / Double(without.commits)
        let extra = Double(part(with.process)) - each * Double(with.commits)
        return Figure(metric, .value, extra / Double(with.affectingCommits), n: with.affectingCommits)
    }

    /// A quantity of a role per commit of a counted trial. Nil for later repetitions of a timed trial, which have no
    /// counted trial. The first repetition has a figure, flagged if uncounted, so that limits on it are reported.
    private func counted(_ metric: Metric) -> Figure? {
        guard let (quantity, role) = metric.counted else { return nil }
        guard let count = counted?.count else {
            return spec.trial == 0 ? Figure(metric, .value, nil, n: 0, flags: [.notCounted]) : nil
        }
        let value = count.perCommit(role.threadRoles, quantity.amount)
        return Figure(metric, .value, value, n: count.commits, flags: [.counted(by: count.counter)])
    }

    /// CPU per commit after all observers have ended, minus that of a store that was never observed.
    private var unsubscribedCost: Figure {
        guard let with = measured.cpu, let after = with.perCommitNs, let never = baseline?.cpu?.perCommitNs else {
            return Figure(.unsubscribedCost, .value, nil, n: 0, flags: [.noBaseline])
        }
        return Figure(.unsubscribedCost, .value, after - never, n: with.commits)
    }

    private var harnessCost: Figure {
        let account = isEmpty ? measured.cpu : noop?.cpu
        return Figure(.harnessCost, .value, account?.perCommitNs, n: account?.commits ?? 0)
    }

    /// Flags a time that is less than `floorFactor` times the same figure of the no-op driver (`at_floor`).
    private func atFloor(_ figure: Figure) -> Figure {
        guard let value = figure.value, [.ns, .nsPerCommit].contains(figure.metric.entry.unit),
            figure.statistic != .count, figure.metric != .harnessHiccup,
            let floor = noop?.figures.first(where: {
                $0.metric == figure.metric && $0.statistic == figure.statistic
            })?.value, value < Figure.floorFactor * floor
        else { return figure }
        var marked = figure
        marked.flags.append(.atFloor)
        return marked
    }
}

extension CountedRole {
    fileprivate var threadRoles: [ThreadRole] {
        switch self {
        case .writer: [.writer]
        case .upkeep: [.upkeep]
        case .observer: [.observer]
        case .engine: ThreadRole.allCases
        }
    }
}

extension CountedQuantity {
    fileprivate func amount(_ amounts: CountAccount.Amounts) -> Int64? {
        switch self {
        case .instructions: amounts.instructions
        case .allocations: amounts.allocations
        case .systemCalls: amounts.systemCalls
        case .reads: amounts.reads
        }
    }
}
