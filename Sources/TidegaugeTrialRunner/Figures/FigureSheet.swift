// Computes the figures of one trial from its records.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct FigureSheet {
    let spec: TrialSpec
    let history: History
    let verdict: OracleVerdict
    let findings: Findings
    let pairs: PairFigures
    let callbacks: Int
    let hasObservers: Bool
    /// Whether latencies come from observers on the hosts that write.
    private let isEchoed: Bool
    /// Time in ns from the fault of `ServerFault` until the last observer had received a later commit; see
    /// `heardAgainNs`. Nil without such a fault, or if `heardAgainNs` returns nil.
    let hearingAgainNs: Int64?
    /// Uncertainty (±) of times between two hosts; nil without hosts that write.
    let clockUncertaintyNs: Int64?
    private let asked: Set<Metric>

    /// - Parameter endNs: time when `logs` were taken. A commit that was not covered by then has a latency of at
    ///   least the time until then.
    init(
        _ spec: TrialSpec, endNs: Int64, _ history: History, _ logs: [ObserverLog], _ plan: QueryAssignment,
        _ verdict: OracleVerdict, _ findings: Findings, _ echoes: [Echo] = []
    ) {
        (self.spec, self.history, self.verdict, self.findings) = (spec, history, verdict, findings)
        asked = spec.neededMetrics
        hasObservers = plan.mainObservers > 0 || !findings.passing.isEmpty
        let wantsStaleness = !asked.isDisjoint(with: [.staleness, .versionLag])
        clockUncertaintyNs = Self.uncertaintyNs(findings.hosts, spec)
        var pairs = PairFigures(history, findings.window, endNs: endNs, uncertaintyNs: clockUncertaintyNs)
        // A host that writes sees its own commits on one clock, so latencies come from such hosts if there are any.
        // Other observers of those commits contribute only their staleness. Observers on hosts that only observe
        // replace the local ones.
        let (distant, beside) = (echoes.filter(\.writers.isEmpty), echoes.filter { !$0.writers.isEmpty })
        for log in distant.isEmpty ? Array(logs.prefix(plan.mainObservers)) : distant.flatMap(\.logs) {
            if echoes.isEmpty { pairs.add(log) }
            if wantsStaleness { pairs.addStaleness(log) }
        }
        for echo in beside.isEmpty ? distant : beside { pairs.add(echo) }
        for log in findings.passing {
            if let query = plan.queries.firstIndex(of: log.query) { pairs.add(log, query: query) }
        }
        self.pairs = pairs
        hearingAgainNs = findings.harmedNs.flatMap { harmedNs in
            Self.heardAgainNs(after: harmedNs, history, logs.prefix(plan.mainObservers)).map { $0 - harmedNs }
        }
        isEchoed = !beside.isEmpty
        callbacks = (logs + echoes.flatMap(\.logs)).reduce(0) { $0 + $1.count }
    }

    func result() -> TrialResult {
        var result = TrialResult(fate: verdict.violationCount == 0 ? .completed : .oracleViolation)
        result.figures = Metric.allCases.filter { asked.contains($0) }.flatMap { figures($0) } + counters
        result.violations = verdict.violations
        result.violationCount = verdict.violationCount
        result.cpu = findings.cpu
        result.oracleNs = verdict.costNs
        result.counts = [
            "commits": history.commits.count, "measured_commits": measured.count, "callbacks": callbacks,
            "pairs": pairs.pairs, "replayed_callbacks": verdict.replayed, "rows_compared": verdict.rowsCompared,
            "row_samples": verdict.samplesCompared,
        ]
        if verdict.answersCompared > 0 { result.counts["answers"] = verdict.answersCompared }
        if verdict.heldRowsCompared > 0 { result.counts["held_rows"] = verdict.heldRowsCompared }
        result.recordings = recordings
        result.noise = findings.noise
        result.allocations = findings.allocations
        result.counts.merge(findings.counts) { _, own in own }
        if !history.missed.isEmpty {
            result.counts["missed_commits"] = history.missed.count
            if spec.fault.kind == .none {
                result.saturationHz = Double(history.commits.count) * 1e9 / Double(spec.warmUpNs + spec.givesUpNs)
            }
            result.notes.append(
                "\(history.missed.count) of \(history.missed.count + history.commits.count) commits that were due are not "
                    + "made: the writers were late, and gave up \(spec.overrunNs / 1_000_000) ms after the window")
        }
        result.hosts = findings.hosts.isEmpty ? nil : findings.hosts
        if let impossible = pairs.impossible {
            result.fate = .harnessFault(reason: "clocks")
            result.notes.append(
                "an observer was called \(impossible.earlierNs) ns before the commit began that it was called for, and clocks are "
                    + "known to \(pairs.uncertaintyNs ?? 0) ns: version \(impossible.version), of a clock that was set")
        }
        if let harmed = findings.harmedDeliveries { result.expectCaught(spec, harmed: harmed) }
        return result
    }

    /// The engine's counters per commit, also if the spec does not ask for them.
    private var counters: [Figure] {
        let counter = spec.count.flatMap { InstructionCounter(rawValue: $0.counter) }
        return findings.counters.sorted { $0.key < $1.key }.map { name, growth in
            let (value, n) = each(Double(growth), of: counter == nil ? history.commits.count : findings.commits)
            return Figure(
                .engine(counter: name), .value, value, n: n, flags: counter.map { [.counted(by: $0)] } ?? [])
        }
    }

    var window: Window { findings.window }

    /// The largest uncertainty of the writing hosts' clocks, plus the largest of the hosts that only observe.
    private static func uncertaintyNs(_ hosts: [HostAccount], _ spec: TrialSpec) -> Int64? {
        let widths = hosts.map(\.clock.halfWidthNs)
        guard let writing = widths.prefix(spec.writers.hosts ?? 0).max() else { return nil }
        return writing + (widths.dropFirst(spec.writers.hosts ?? 0).max() ?? 0)
    }

    /// Commits due in the window.
    var measured: [CommitRecord] { history.commits.lazy.map(\.record).filter { window.contains($0.dueNs) } }

    /// Commits due in the window that were not made.
    var missed: [MissedCommit] { history.missed.filter { window.contains($0.dueNs) } }

    /// Returns nil for a metric without a provider, and if the metric needs observers and there are none.
    private func provider(_ metric: Metric) -> TrialProvider? {
        hasObservers || !metric.needsObservers ? TrialProvider.all[metric] : nil
    }

    private func figures(_ metric: Metric) -> [Figure] {
        switch provider(metric) {
        case .events(let span, _):
            histogram(metric)?.figures(for: metric, flags: flags(span)).map {
                isEchoed ? atFloor($0, span) : acrossHosts(atFloor($0, span), span)
            } ?? []
        case .overTime(let data):
            data(self).distribution.figures(for: metric, flags: drift).map {
                acrossHosts(atFloor($0), .commitToCallback)
            }
                + [slope(metric, data(self).means)]
        case .number(let number): number(self).map { [Figure(metric, .value, $0.value, n: $0.n)] } ?? []
        case .figures(let figures): figures(self)
        case .held: findings.holdings.figures(metric)
        case nil: []
        }
    }

    /// The distribution over events of a metric; nil if the metric has none, or if this trial does not have it.
    func histogram(_ metric: Metric) -> LatencyHistogram? {
        guard case .events(let span, let histogram) = provider(metric), span.exists(spec.writers.load) else {
            return nil
        }
        return histogram(self)
    }
}

// Flags of figures.
extension FigureSheet {
    /// Marks trials whose latencies drift: they measured a transition, not a steady state.
    var drift: [FigureFlag] { pairs.endToEndOverTime.isSteady == false ? [.notSteady] : [] }

    private func flags(_ span: TrialProvider.Span) -> [FigureFlag] {
        // In lockstep a commit is due when it begins, as nothing else is under way: a latency of an idle store.
        (span == .outside ? [] : drift) + (span.isDelivery && spec.writers.load == .lockstep ? [.lockstep] : [])
    }

    /// Marks a time that is too close to the cost of a clock reading. In an open load, a time measured from a due time
    /// is also compared with the wake-up lateness of a thread that only sleeps.
    private func atFloor(_ figure: Figure, _ span: TrialProvider.Span = .within) -> Figure {
        guard let value = figure.value, figure.metric.entry.unit == .ns, figure.statistic != .count else {
            return figure
        }
        var floorNs = findings.clockNs
        // Late wake-ups are the harness's own contribution to the latency.
        if span.isFromDue, spec.writers.load == .open, let hiccup = findings.hiccups.percentile(figure.statistic) {
            floorNs = max(floorNs, Double(hiccup.value))
        }
        guard abs(value) < Figure.floorFactor * floorNs else { return figure }
        var marked = figure
        marked.flags.append(.atFloor)
        return marked
    }

    /// Marks a time that begins on one host's clock and ends on another's with the clocks' uncertainty. A time shorter
    /// than the uncertainty is also marked `at_floor`.
    private func acrossHosts(_ figure: Figure, _ span: TrialProvider.Span) -> Figure {
        guard span.isDelivery, let uncertaintyNs = clockUncertaintyNs, uncertaintyNs > 0, let value = figure.value,
            figure.metric.entry.unit == .ns, figure.statistic != .count
        else { return figure }
        var marked = figure
        marked.flags.append(.acrossHosts(uncertaintyNs: uncertaintyNs))
        if abs(value) < Double(uncertaintyNs), !marked.flags.contains(.atFloor) { marked.flags.append(.atFloor) }
        return marked
    }

    /// Returns the drift of a quantity per second: the median slope of its 250 ms means (Theil–Sen), which is robust
    /// against a single disturbance. Without a value for fewer than three means.
    private func slope(_ metric: Metric, _ series: IntervalSeries) -> Figure {
        let means = series.wholeMeans
        let slope = means.count < 3 ? nil : TheilSen.slope(x: means.map(\.seconds), y: means.map(\.mean))
        return Figure(metric, .slope, slope, n: means.count)
    }
}

// Recordings beside the figures.
extension FigureSheet {
    private var recordings: TrialRecordings {
        var recordings = TrialRecordings()
        recordings.histograms = Metric.allCases.filter { asked.contains($0) && $0.entry.unit == .ns }.compactMap {
            histogram($0)?.record(for: $0, lengthNs: window.lengthNs)
        }
        recordings.series = series
        return recordings
    }

    private var series: [SeriesRecord] {
        var series: [SeriesRecord] = []
        if asked.contains(.endToEndLatency), spec.writers.load != .closed, hasObservers {
            series += pairs.endToEndOverTime.records(for: .endToEndLatency)
        }
        if asked.contains(.staleness), hasObservers { series += pairs.staleness.overTime.records(for: .staleness) }
        var writing = IntervalSeries(startNs: window.startNs, endNs: window.endNs)
        for record in history.commits.lazy.map(\.record) {
            writing.add(atNs: record.committedNs, value: Double(record.committedNs - record.beginNs))
        }
        if asked.contains(.writeServiceTime) { series += writing.records(for: .writeServiceTime) }
        return series + [SeriesRecord(.achievedRate, .value, writing.rates)]
    }
}
