// Runs the trials of scenarios with their companions, one after the other, and judges limits after each scenario.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Receives the events of a run, on the running thread except for `progressed`.
public protocol RunnerDelegate: AnyObject, Sendable {
    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int)
    /// Called before a trial begins, with the planned time of this and all later trials.
    func planned(leftNs: Int64)
    /// Any thread.
    func progressed(_ spec: TrialSpec, _ progress: TrialProgress)
    func ended(_ spec: TrialSpec, _ result: TrialResult)
    func skipped(_ record: SkippedRecord)
    /// Receives figures to report under `spec` and the trial that they are from (nil: several trials). They must be
    /// durable on return.
    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) throws
    /// Returns the result of a trial from an earlier part of the run, which is then not run again.
    func known(_ spec: TrialSpec) -> KnownTrial?
    func judged(_ judgement: Judgement) throws
}

extension RunnerDelegate {
    public func known(_ spec: TrialSpec) -> KnownTrial? { nil }
    public func planned(leftNs: Int64) {}
}

/// Runs scenarios. One thread.
public final class Runner {
    /// A scenario and its trials in the order of execution.
    public struct Job: Sendable {
        public var scenario: String
        public var limits: [Limit]
        public var trials: [TrialSpec]
        /// Driver that others are compared with, or nil.
        public var reference: String?
        /// Maximum number of additional trials per driver that search for the sustainable rate.
        public var searchSteps: Int
        /// Drivers that are run besides the scenario's own. Only limits on the engine's own counters apply to them.
        public var unjudged: Set<String>
        /// Drivers of the scenario that are not available, with the reason. Each is reported as skipped.
        public var leftOut: [(name: String, reason: String)]
        /// Whether trials that the machine disturbed are repeated; at most a fifth of the job's trials, rounded up.
        public var repeatsVoid: Bool

        public init(
            scenario: String, limits: [Limit], trials: [TrialSpec], reference: String? = nil, searchSteps: Int = 0,
            unjudged: Set<String> = [], leftOut: [(name: String, reason: String)] = [], repeatsVoid: Bool = false
        ) {
            (self.reference, self.unjudged, self.searchSteps) = (reference, unjudged, searchSteps)
            self.leftOut = leftOut
            (self.repeatsVoid, self.scenario, self.limits) = (repeatsVoid, scenario, limits)
            self.trials = trials
        }
    }

    private let drivers: [String: any StoreDriver]
    private let executor: any TrialExecutor
    private let interruption: Interruption
    private unowned let delegate: any RunnerDelegate
    private let noiseLimits: NoiseLimits
    /// Counter of the counted companion trials; nil: there are none.
    private let counter: InstructionCounter?
    /// Measures a yardstick.
    private let yardstickNs: (Yardstick) throws -> Double
    private var outcome = Outcome.pass
    private var index = 0
    private var total = 0
    /// Planned time in ns of the trials that have not begun.
    private var leftNs: Int64 = 0
    /// Repetitions left for disturbed trials of the current job.
    private var repeatsLeft = 0
    /// Completed trials of the current job on the no-op driver, reused for equal specs.
    private var noops: [(spec: TrialSpec, result: TrialResult)] = []

    public init(
        drivers: [any StoreDriver], executor: any TrialExecutor, interruption: Interruption,
        delegate: any RunnerDelegate, noiseLimits: NoiseLimits = NoiseLimits(), counter: InstructionCounter? = nil,
        yardstickNs: @escaping (Yardstick) throws -> Double = YardstickProbe.readNs
    ) {
        (self.counter, self.yardstickNs) = (counter, yardstickNs)
        self.noiseLimits = noiseLimits
        self.drivers = Dictionary(drivers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        (self.executor, self.interruption, self.delegate) = (executor, interruption, delegate)
    }

    /// Runs all jobs, or stops at an interruption.
    /// - Throws: only errors of the delegate.
    public func run(_ jobs: [Job]) throws -> Outcome {
        let jobs = jobs.map(feasible)
        total = jobs.reduce(0) { $0 + processes($1) }
        leftNs = jobs.reduce(0) { sum, job in
            let own = job.trials.reduce(0) { $0 + plannedNs(makeGroup($1)) }
            let steps = Int64(Set(job.trials.map(\.driver)).count * job.searchSteps)
            return sum + own + steps * (job.trials.first.map { plannedNs(makeGroup($0)) } ?? 0)
        }
        for job in jobs where !interruption.isRaised { try run(job) }
        return interruption.isRaised ? .interrupted : outcome
    }

    private func makeGroup(_ spec: TrialSpec) -> TrialGroup {
        let driver = drivers[spec.driver]
        let empty = driver.flatMap { drivers[$0.facts.emptyDriver] }?.name ?? EngineFacts.noop
        return TrialGroup(
            spec, counter: counter, beside: driver?.isEmpty == true ? nil : empty, capabilities: driver?.capabilities)
    }

    /// Number of trials of a job with their companions, including all steps of its search.
    private func processes(_ job: Job) -> Int {
        let listed = job.trials.reduce(0) { $0 + makeGroup($1).members.count }
        let searching = Set(job.trials.map(\.driver)).count * job.searchSteps
        return listed + searching * (job.trials.first.map { makeGroup($0).members.count } ?? 0)
    }

    /// Time to start and end a process and to load a small dataset.
    private static let overheadNs: Int64 = 200_000_000

    private func plannedNs(_ spec: TrialSpec) -> Int64 { spec.warmUpNs + spec.durationNs + Self.overheadNs }

    private func plannedNs(_ group: TrialGroup) -> Int64 { group.members.reduce(0) { $0 + plannedNs($1.spec) } }

    /// Returns the job without the trials that its drivers cannot run. Reports the reasons, also for trials that run
    /// without their counted companion.
    private func feasible(_ job: Job) -> Job {
        for (driver, reason) in job.leftOut {
            delegate.skipped(SkippedRecord(scenario: job.scenario, driver: driver, reason: reason))
        }
        var told: Set<String> = []
        var feasible = job
        feasible.trials = job.trials.filter { spec in
            guard let driver = drivers[spec.driver] else { return false }
            let isFeasible = CapabilityCheck.obstacle(spec, driver.capabilities) == nil
            let checked = isFeasible ? TrialGroup.counted(spec, by: counter) : spec
            guard let checked, let obstacle = CapabilityCheck.obstacle(checked, driver.capabilities) else {
                return isFeasible
            }
            if told.insert(spec.driver + obstacle).inserted {
                delegate.skipped(SkippedRecord(scenario: job.scenario, driver: spec.driver, reason: obstacle))
            }
            return isFeasible
        }
        return feasible
    }

    private func run(_ job: Job) throws {
        var entries: [LimitCheck.Entry] = []
        var trials: [KnownTrial] = []
        /// Disturbance of disturbed trials by driver and variant.
        var noise: [[String]: String] = [:]
        noops = []
        let readings = Yardstick.allCases.filter(Set(job.limits.compactMap(\.yardstick)).contains).map { yardstick in
            (yardstick, YardstickReading { try yardstickNs(yardstick) })
        }
        var yardsticks = Dictionary(uniqueKeysWithValues: readings)
        let needsPace = MachinePace.isNeeded(for: job.limits)
        var pace = MachinePace()
        repeatsLeft = job.repeatsVoid ? (job.trials.count + Self.voidOneIn - 1) / Self.voidOneIn : 0
        /// Runs a trial or takes its earlier result. Returns false if it was interrupted before the measured trial.
        func measure(_ spec: TrialSpec) throws -> Bool {
            let known = self.known(spec)
            // Results from an earlier part of the run cannot be compared with this part's yardsticks.
            if known != nil {
                yardsticks = yardsticks.mapValues { _ in YardstickReading { throw OtherPart() } }
                pace.meetEarlierTrial()
            } else if needsPace {
                pace.read(yardstickNs)
            }
            guard let trial = try known ?? run(spec) else { return false }
            trials.append(trial)
            let reason = trial.figures.lazy.flatMap(\.flags).compactMap(\.disturbance).first
            if let reason { noise[[spec.driver, spec.variant]] = reason }
            let (driver, variant) = (spec.driver, spec.variant)
            entries += trial.figures.map { figure in
                let samples = trial.samples.first { $0.metric == figure.metric }
                return .init(
                    driver: driver, variant: variant, figure: figure, noise: reason, samples: samples,
                    lowest: trial.value(figure.metric, .min))
            }
            return true
        }
        for spec in job.trials where !interruption.isRaised {
            if try !measure(spec) { break }
        }
        for driver in Set(trials.map(\.spec.driver)).sorted() where job.searchSteps > 0 {
            try search(job, driver, trials: { trials.filter { $0.spec.driver == driver } }, measure)
        }
        if needsPace { pace.read(yardstickNs) }
        for (driver, points) in Dictionary(grouping: trials, by: \.spec.driver).sorted(by: { $0.key < $1.key }) {
            let figures = try overSweep(job, driver, points)
            // One disturbed point affects the fit through all points.
            let reason = noise.filter { $0.key[0] == driver }.map(\.value).min()
            entries += figures.map { .init(driver: driver, variant: "*", figure: $0, noise: reason) }
        }
        for (spec, figure) in PeerFigures(reference: job.reference, trials: trials).figures() {
            try delegate.measured([figure], of: spec, nil)
            let reason = noise[[spec.driver, spec.variant]]
            entries.append(.init(driver: spec.driver, variant: spec.variant, figure: figure, noise: reason))
        }
        for index in entries.indices where MachinePace.isMade(ofSeveral: entries[index].figure.metric) {
            entries[index].noise = entries[index].noise ?? pace.obstacle
        }
        for (yardstick, _) in readings { yardsticks[yardstick]?.end { try yardstickNs(yardstick) } }
        let completed = trials.filter { $0.record.fate == .completed }.map(\.spec)
        try judge(job, entries, yardsticks, completed)
    }

    private struct OtherPart: Error, CustomStringConvertible {
        let description = "trials were kept from an earlier part of the run"
    }

    /// Narrows the bracket of the sustainable rate. Each step is a trial at a rate that the sweep lacks.
    private func search(
        _ job: Job, _ driver: String, trials: () -> [KnownTrial], _ measure: (TrialSpec) throws -> Bool
    ) throws {
        guard let first = job.trials.first(where: { $0.driver == driver }) else { return }
        for _ in 0..<job.searchSteps where !interruption.isRaised {
            // Whole commits per second, because the variant contains the rate.
            guard let rateHz = RateBracket(trials()).next?.rounded(), rateHz >= 1,
                !trials().contains(where: { $0.spec.writers.rateHz == rateHz })
            else { return }
            var spec = first
            spec.writers.rateHz = rateHz
            spec.variant = first.variant.split(separator: ";").map { part in
                part.hasPrefix("writers.rate=") ? "writers.rate=\(Int64(rateHz))/s" : String(part)
            }.joined(separator: ";")
            if try !measure(spec) { return }
        }
    }

    private func known(_ spec: TrialSpec) -> KnownTrial? {
        guard let known = delegate.known(spec) else { return nil }
        index += makeGroup(spec).members.count
        leftNs -= plannedNs(makeGroup(spec))
        outcome = outcome.worse(Outcome(known.record.fate, isUnavailable: known.record.isUnavailable))
        return known
    }

    /// Runs a trial with its companions and reports its figures. Returns nil if it was interrupted before the measured
    /// trial.
    private func run(_ spec: TrialSpec) throws -> KnownTrial? {
        var voids: [String] = []
        var run: GroupFigures?
        repeat {
            guard var group = self.run(makeGroup(spec)) else { return nil }
            // A disturbed baseline affects a difference as much as a disturbed trial.
            let disturbance =
                [group.measured, group.baseline].lazy
                .compactMap { $0?.disturbance(self.noiseLimits) }.first
            group.disturbance = disturbance
            run = group
            guard let disturbance, repeatsLeft > 0 else { break }
            repeatsLeft -= 1
            total += makeGroup(spec).members.count
            leftNs += plannedNs(makeGroup(spec))
            voids.append(disturbance)
        } while !interruption.isRaised
        guard var group = run else { return nil }
        group.voids = voids
        let figures = group.figures()
        try delegate.measured(figures, of: spec, group.measured)
        return KnownTrial(
            figures: figures, record: TrialRecord(group.measured, of: spec),
            samples: group.measured.recordings.histograms)
    }

    /// Returns nil if it was interrupted before the measured trial.
    private func run(_ group: TrialGroup) -> GroupFigures? {
        var results: [TrialGroup.Role: TrialResult] = [:]
        for (role, spec) in group.members {
            index += 1
            let beforeNs = leftNs
            leftNs -= plannedNs(spec)
            if role == .noop, let known = noops.first(where: { $0.spec == spec }) {
                results[role] = known.result
                continue
            }
            delegate.planned(leftNs: max(beforeNs, 0))
            delegate.began(spec, role: role.rawValue, index: index, of: total)
            let result = executor.run(spec) { [delegate] in delegate.progressed(spec, $0) }
            delegate.ended(spec, result)
            outcome = outcome.worse(Outcome(result.fate, isUnavailable: result.isUnavailable))
            results[role] = result
            if interruption.isRaised { break }
            if role == .noop, result.fate == .completed { noops.append((spec, result)) }
        }
        return results[.measured].map { GroupFigures(group, $0, beside: results) }
    }

    /// Share of trials that may be repeated: one in five.
    private static let voidOneIn = 5

    private func overSweep(_ job: Job, _ driver: String, _ points: [SweepFigures.Point]) throws -> [Figure] {
        guard var spec = job.trials.first(where: { $0.driver == driver }) else { return [] }
        let sweep = SweepFigures(points: points)
        // Exponents of the engine's counters need not be asked for.
        let exponents = Set(points.flatMap { $0.figures.compactMap(\.metric.exponent) })
        let asked = spec.metrics.filter { !$0.isOfEngine } + Metric.ordered(exponents)
        let figures = asked.flatMap { sweep.figures($0) }
        spec.variant = "*"
        spec.trial = 0
        if !figures.isEmpty { try delegate.measured(figures, of: spec, nil) }
        return figures
    }

    private func judge(
        _ job: Job, _ entries: [LimitCheck.Entry], _ yardsticks: [Yardstick: YardstickReading], _ trials: [TrialSpec]
    ) throws {
        // A limit on a counter of an engine is meant for engines that have it.
        let own = entries.filter { !job.unjudged.contains($0.driver) || $0.figure.metric.isOfEngine }
        let check = LimitCheck(
            scenario: job.scenario, limits: job.limits, entries: own, yardsticks: yardsticks, trials: trials,
            unjudged: job.unjudged)
        for judgement in check.judgements() {
            try delegate.judged(judgement)
            switch judgement.verdict {
            // An undecided limit is reported, but does not count against the store.
            case .kept, .unknown: break
            case .broken: outcome = outcome.worse(.limitBroken)
            }
        }
    }
}
