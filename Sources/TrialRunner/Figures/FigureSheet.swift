// All figures of one trial from what was recorded. Only what the spec asks for, and what every trial owes: outcome,
// violations, what was missed. Off the clock.
import Measure
import Scenario
import Trials

/// Turns records into a `TrialResult`.
struct FigureSheet {
    /// In every result, asked for or not.
    static let always: Set<Metric> = [.missedFinal, .oracleViolations]

    let spec: TrialSpec
    let window: Window
    let history: History
    private let verdict: Verdict
    private let account: CPUAccount
    let hiccups: LatencyHistogram
    let probes: ProbeSamples
    private let pairs: PairFigures
    private let callbacks: Int
    private let hasObservers: Bool
    private let asked: Set<Metric>

    /// - Parameter endNs: when `logs` were taken: what was not covered then is known to take longer than until then.
    init(
        _ spec: TrialSpec, _ window: Window, endNs: Int64, _ history: History, _ logs: [ObserverLog],
        _ plan: QueryPlan, _ verdict: Verdict, _ account: CPUAccount, _ hiccups: LatencyHistogram,
        _ probes: ProbeSamples = .init()
    ) {
        self.spec = spec
        self.window = window
        self.history = history
        self.verdict = verdict
        self.account = account
        self.hiccups = hiccups
        self.probes = probes
        var asked = Set(spec.measure.compactMap { Metric(rawValue: $0) }).union(Self.always)
        // The ratio is the parent's, of the rates of two trials.
        if asked.contains(.observedRateRatio) { asked.insert(.achievedRate) }
        if asked.contains(.writerPenalty) { asked.insert(.writeServiceTime) }
        if asked.contains(.sustainableRate) {
            asked.formUnion([.scheduleStarted, .versionLag, .staleness, .coalescingRatio])
        }
        if asked.contains(.kneeRate) { asked.insert(.coalescingRatio) }
        self.asked = asked
        hasObservers = plan.mainObservers > 0
        let wantsStaleness = !asked.isDisjoint(with: [.staleness, .versionLag])
        var pairs = PairFigures(history, window, endNs: endNs)
        for log in logs.prefix(plan.mainObservers) { pairs.add(log, wantsStaleness: wantsStaleness) }
        self.pairs = pairs
        callbacks = logs.reduce(0) { $0 + $1.count }
    }

    func result() -> TrialResult {
        var result = TrialResult(fate: verdict.violationCount == 0 ? .completed : .oracleViolation)
        result.figures = Metric.allCases.filter { asked.contains($0) }.flatMap { figures($0) }
        result.violations = verdict.violations
        result.violationCount = verdict.violationCount
        result.cpu = account
        result.oracleNs = verdict.costNs
        result.counts = [
            "commits": history.commits.count, "measured_commits": measured.count, "callbacks": callbacks,
            "pairs": pairs.pairs, "replayed_callbacks": verdict.replayed, "rows_compared": verdict.rowsCompared,
            "row_samples": verdict.samplesCompared,
        ]
        result.recordings = recordings
        if !history.unmade.isEmpty {
            result.counts["unmade_commits"] = history.unmade.count
            result.notes.append(
                "\(history.unmade.count) of \(history.unmade.count + history.commits.count) commits that were due are not "
                    + "made: the writers were late, and gave up \(spec.overrunNs / 1_000_000) ms after the window")
        }
        return result
    }

    /// Commits due in the window.
    var measured: [CommitRecord] {
        history.commits.lazy.map(\.record).filter { window.contains($0.dueNs) }
    }

    /// Commits due in the window that were not made.
    var unmade: [UnmadeCommit] { history.unmade.filter { window.contains($0.dueNs) } }

    private func figures(_ metric: Metric) -> [Figure] {
        // What happened before the window, and what does not depend on the store, cannot drift within it.
        var flags = metric == .timeToFirstDelivery || metric == .harnessHiccup ? [] : flags
        // There a commit is due when it begins, since nothing else is under way: a latency, but one of a store without load.
        if metric.isDeliveryLatency, spec.writers.load == .lockstep { flags.append("lockstep") }
        if let histogram = histogram(metric) {
            return histogram.figures(for: metric, flags: flags).map(atFloor)
        }
        switch metric {
        case .deliveryOverFloor: return hasObservers ? deliveryOverFloor : []
        case .staleness:
            guard hasObservers else { return [] }
            return pairs.staleness.staleness.figures(for: metric, flags: flags).map(atFloor)
                + [slope(metric, pairs.staleness.overTime)]
        case .versionLag:
            guard hasObservers else { return [] }
            return pairs.staleness.versionLag.figures(for: metric, flags: flags)
                + [slope(metric, pairs.staleness.lagOverTime)]
        case .scheduleStarted: return spec.writers.load == .open ? [scheduleStarted] : []
        case .coalescingRatio: return observed(metric, pairs.coalescingRatio, n: pairs.callbacks)
        case .spuriousNotifications: return observed(metric, Double(verdict.spurious), n: callbacks)
        case .missedFinal: return observed(metric, Double(verdict.missedFinal), n: spec.observers.count)
        case .oracleViolations: return [value(metric, Double(verdict.violationCount), n: verdict.replayed)]
        case .achievedRate: return [value(metric, achievedRate, n: measured.count)]
        case .objectRate: return spec.writers.load == .closed ? [value(metric, objectRate, n: measured.count)] : []
        case .writerShareMin: return spec.writers.threads > 1 ? [value(metric, writerShareMin, n: measured.count)] : []
        case .processCPU: return [value(metric, account.perCommitNs, n: account.commits)]
        case .writerCPU: return role(metric, .writer)
        case .upkeepCPU: return role(metric, .upkeep)
        case .observerCPU: return hasObservers ? observerCPU : []
        case .otherCPU: return role(metric, .other)
        case .writerBytes: return bytes(metric, probes.allocations?.writerBytes)
        case .observerBytes: return hasObservers ? bytes(metric, probes.allocations?.observerBytes) : []
        case .engineBytes: return bytes(metric, probes.allocations?.engineBytes)
        case .spaceAmplification: return [value(metric, probes.versions.amplification, n: 1)]
        case .activeVersions: return activeVersions
        case .liveBytes, .residentBytes, .fileBytes, .openFiles: return probes.holdings.figures(metric)
        case .oracleCost:
            let commits = history.commits.count
            return [value(metric, commits > 0 ? Double(verdict.costNs) / Double(commits) : nil, n: commits)]
        case .recordingCost:
            var cost = value(metric, probes.recording?.ns, n: probes.recording?.pairs ?? 0)
            if probes.recording != nil {
                cost.flags.append("clock:\(RecordingCost.clockReads)x\(Int(probes.clockNs))ns")
            }
            return [cost]
        case .recordingBytes:
            return [value(metric, probes.recording?.bytes.map { Double($0) }, n: probes.recording?.pairs ?? 0)]
        case .faultsCaught:
            return spec.fault.kind.mustBeCaught
                ? [value(metric, Double(verdict.violationCount), n: verdict.replayed)] : []
        case .failedCommits: return [value(metric, Double(probes.refusals), n: measured.count)]
        case .stallSeen: return spec.fault.kind == .stall ? [stallSeen] : []
        case .slowdownSeen: return spec.fault.kind == .slowdown ? [slowdownSeen] : []
        // Distributions that this trial does not have, and figures of more than one trial, which are the parent's.
        default: return []
        }
    }

    /// The distribution over events behind a metric; nil where it is none, or where this trial does not have it.
    func histogram(_ metric: Metric) -> LatencyHistogram? {
        // A closed loop has no due times; what is measured from one would be called a latency and be none.
        let isOpen = spec.writers.load == .open
        let isDelivered = spec.writers.load != .closed && hasObservers
        switch metric {
        case .scheduleDelay: return isOpen ? schedule { $0.beginNs - $0.dueNs } : nil
        case .writeResponseTime: return isOpen ? schedule { $0.committedNs - $0.dueNs } : nil
        case .writeServiceTime: return writer { $0.committedNs - $0.beginNs }
        case .lockWait: return writer { $0.lockedNs - $0.beginNs }
        case .deliveryLatency: return isDelivered ? pairs.delivery : nil
        case .lastDeliveryLatency: return isDelivered ? pairs.lastDelivery : nil
        case .endToEndLatency: return isDelivered ? pairs.endToEnd : nil
        case .writeToCallback: return isDelivered ? pairs.writeToCallback : nil
        case .wakeFloor: return probes.wakeFloor
        case .callbackTime: return hasObservers ? pairs.callbackTime : nil
        case .batchSpan: return hasObservers ? pairs.batchSpan : nil
        case .fanoutSpan: return hasObservers ? pairs.fanoutSpan : nil
        case .timeToFirstDelivery: return hasObservers ? pairs.firstDelivery : nil
        case .observerStall: return probes.stalls
        case .harnessHiccup: return hiccups
        case .recoveryTime: return recovery
        default: return nil
        }
    }

    private var flags: [String] { SteadyState(series: pairs.endToEndOverTime).isSteady == false ? ["not_steady"] : [] }

    private func writer(_ timeNs: (CommitRecord) -> Int64) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for record in measured { histogram.record(timeNs(record)) }
        return histogram
    }

    /// From a due time: what was not made is at least as late as its writer was when it gave up.
    private func schedule(_ timeNs: (CommitRecord) -> Int64) -> LatencyHistogram {
        var histogram = writer(timeNs)
        for commit in unmade { histogram.recordCensored(window.startNs + spec.givesUpNs - commit.dueNs) }
        return histogram
    }

    private func observed(_ metric: Metric, _ number: Double?, n: Int) -> [Figure] {
        hasObservers ? [value(metric, number, n: n)] : []
    }

    private func value(_ metric: Metric, _ number: Double?, n: Int) -> Figure { Figure(metric, .value, number, n: n) }

    private func role(_ metric: Metric, _ role: ThreadRole) -> [Figure] {
        let cpuNs = Double(account.roleNs[role.rawValue] ?? 0)
        return [value(metric, account.commits > 0 ? cpuNs / Double(account.commits) : nil, n: account.commits)]
    }

    /// A queue runs deliveries on threads that it shares with everything else that is dispatched: no clock is theirs alone.
    private var observerCPU: [Figure] {
        guard spec.observers.deliver == .queue else { return role(.observerCPU, .observer) }
        return [Figure(.observerCPU, .value, nil, n: account.commits, flags: ["queue_threads"])]
    }

    /// Of the medians: what a store adds to the wakes it cannot do without.
    private var deliveryOverFloor: [Figure] {
        guard let floor = probes.wakeFloor else { return [] }
        let ratio = pairs.writeToCallback.percentile(.p50).flatMap { callback in
            floor.percentile(.p50).map { Double(callback.value) / Double(max($0.value, 1)) }
        }
        // As many samples as a median needs, on either side.
        let n = min(pairs.writeToCallback.count, floor.count)
        return [Figure(.deliveryOverFloor, .value, n >= 20 ? ratio : nil, n: n, flags: flags)]
    }

    /// Objects written per second that writers spent in their commits: neither drawing changes nor recording is in it.
    private var objectRate: Double? {
        let records = measured
        let writingNs = records.reduce(Int64(0)) { $0 + $1.committedNs - $1.beginNs }
        guard writingNs > 0 else { return nil }
        let objects = records.count * spec.writers.rowsPerCommit * spec.writers.threads
        return Double(objects) * 1e9 / Double(writingNs)
    }

    /// Commits of the writer that made fewest, over what each would have in equal shares.
    private var writerShareMin: Double? {
        var commits = Array(repeating: 0, count: spec.writers.threads)
        for commit in history.commits where window.contains(commit.record.committedNs) { commits[commit.writer] += 1 }
        let total = commits.reduce(0, +)
        return total > 0 ? Double(commits.min()! * commits.count) / Double(total) : nil
    }

    /// Commits that returned within the window, per second of it in which they could.
    private var achievedRate: Double {
        let returned = history.commits.count { window.contains($0.record.committedNs) }
        return Double(returned) * 1e9 / Double(spec.durationNs)
    }
}

// What is handed on beside the figures.
extension FigureSheet {
    private var recordings: TrialRecordings {
        var recordings = TrialRecordings()
        recordings.histograms = Metric.allCases.filter { asked.contains($0) && $0.unit == "ns" }.compactMap {
            histogram($0)?.record(for: $0, lengthNs: window.endNs - window.startNs)
        }
        recordings.series = series
        return recordings
    }

    private var series: [SeriesRecord] {
        var series: [SeriesRecord] = []
        if asked.contains(.endToEndLatency), spec.writers.load != .closed, hasObservers {
            series += pairs.endToEndOverTime.records(for: .endToEndLatency)
        }
        if asked.contains(.staleness), hasObservers {
            series += pairs.staleness.overTime.records(for: .staleness)
        }
        var writing = IntervalSeries(startNs: window.startNs, endNs: window.endNs)
        for record in history.commits.lazy.map(\.record) {
            writing.add(atNs: record.committedNs, value: Double(record.committedNs - record.beginNs))
        }
        if asked.contains(.writeServiceTime) { series += writing.records(for: .writeServiceTime) }
        return series + [SeriesRecord(.achievedRate, .value, writing.rates)]
    }
}

extension Metric {
    /// From a commit to an observer.
    fileprivate var isDeliveryLatency: Bool {
        switch self {
        case .deliveryLatency, .lastDeliveryLatency, .endToEndLatency, .writeToCallback: true
        default: false
        }
    }
}
