// A whole run: every trial of every scenario, one after the other, with its companions; figures handed on as soon as they
// are known, limits judged when a scenario is through. Knows nothing of files, terminals or processes.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// What a run tells as it goes: on the running thread, but for `progressed`.
public protocol RunnerDelegate: AnyObject, Sendable {
    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int)
    /// Called before a trial begins: what all trials from this one on take, by their specs alone.
    func planned(leftNs: Int64)
    /// Any thread.
    func progressed(_ spec: TrialSpec, _ progress: TrialProgress)
    func ended(_ spec: TrialSpec, _ result: TrialResult)
    func skipped(_ record: SkippedRecord)
    /// Figures to be reported under `spec`, and the trial they are of (nil: figures over a sweep); durable when it returns.
    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) throws
    /// What is known of a trial from an earlier part of the run, so that it is not run again.
    func known(_ spec: TrialSpec) -> KnownTrial?
    func judged(_ judgement: Judgement) throws
}

extension RunnerDelegate {
    public func known(_ spec: TrialSpec) -> KnownTrial? { nil }
    public func planned(leftNs: Int64) {}
}

/// Runs scenarios. One thread.
public final class Runner {
    /// A scenario and its trials in the order to run them.
    public struct Job: Sendable {
        public var scenario: String
        public var limits: [Limit]
        public var trials: [TrialSpec]
        /// The driver that others are compared with, where they are.
        public var reference: String?
        /// Trials on each driver, beside those listed, with which the bracket of the sustainable rate is narrowed.
        public var searchSteps: Int
        /// Drivers that run beside those the scenario is about. Limits are not held against them.
        public var unjudged: Set<String>
        /// Drivers that the scenario names and nobody has here, with the reason; each is told as skipped.
        public var leftOut: [(name: String, reason: String)]
        /// Whether trials that the machine disturbed are run again, a fifth of them at most.
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
    /// Nil where this machine counts no instructions.
    private let counter: InstructionCounter?
    /// Takes a yardstick.
    private let yardstickNs: (Yardstick) throws -> Double
    private var outcome = Outcome.pass
    private var index = 0
    private var total = 0
    /// What trials that have not begun take, by their specs.
    private var leftNs: Int64 = 0
    /// Of the job under way.
    private var repeatsLeft = 0
    /// Of the job under way: trials on the no-op driver, which all drivers at one point share.
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

    /// Runs everything, or up to an interruption.
    /// - Throws: only what the delegate throws when figures cannot be kept.
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
        let empty = drivers[spec.driver]?.facts.emptyDriver
        return TrialGroup(spec, counter: counter, beside: empty.flatMap { drivers[$0] }?.name ?? "noop")
    }

    /// Child processes of a job, all steps of its searches included.
    private func processes(_ job: Job) -> Int {
        let listed = job.trials.reduce(0) { $0 + makeGroup($1).members.count }
        let searching = Set(job.trials.map(\.driver)).count * job.searchSteps
        return listed + searching * (job.trials.first.map { makeGroup($0).members.count } ?? 0)
    }

    /// A process that starts and ends, and loads a small dataset.
    private static let overheadNs: Int64 = 200_000_000

    private func plannedNs(_ spec: TrialSpec) -> Int64 { spec.warmUpNs + spec.durationNs + Self.overheadNs }

    private func plannedNs(_ group: TrialGroup) -> Int64 { group.members.reduce(0) { $0 + plannedNs($1.spec) } }

    /// Without the trials that their driver cannot do.
    private func feasible(_ job: Job) -> Job {
        for (driver, reason) in job.leftOut {
            delegate.skipped(SkippedRecord(scenario: job.scenario, driver: driver, reason: reason))
        }
        var told: Set<String> = []
        var feasible = job
        feasible.trials = job.trials.filter { spec in
            guard let driver = drivers[spec.driver] else { return false }
            guard let obstacle = CapabilityCheck.obstacle(spec, driver.capabilities) else { return true }
            if told.insert(spec.driver + obstacle).inserted {
                delegate.skipped(SkippedRecord(scenario: job.scenario, driver: spec.driver, reason: obstacle))
            }
            return false
        }
        return feasible
    }

    private func run(_ job: Job) throws {
        var entries: [LimitCheck.Entry] = []
        var trials: [KnownTrial] = []
        /// Driver and variant of disturbed trials, with what disturbed them.
        var noise: [[String]: String] = [:]
        noops = []
        let readings = Yardstick.allCases.filter(Set(job.limits.compactMap(\.yardstick)).contains).map { yardstick in
            (yardstick, YardstickReading { try yardstickNs(yardstick) })
        }
        var yardsticks = Dictionary(uniqueKeysWithValues: readings)
        let needsPace = MachinePace.isNeeded(for: job.limits)
        var pace = MachinePace()
        repeatsLeft = job.repeatsVoid ? (job.trials.count + Self.voidOneIn - 1) / Self.voidOneIn : 0
        /// Whether it came to its end.
        func measure(_ spec: TrialSpec) throws -> Bool {
            let known = self.known(spec)
            // What was measured at another time is held against no yardstick of this one.
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
            // One disturbed point bends the line through all of them.
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
        try judge(job, entries, yardsticks)
    }

    private struct OtherPart: Error, CustomStringConvertible {
        let description = "trials were kept from an earlier part of the run"
    }

    /// Narrows the bracket of the sustainable rate: each step is a trial at a rate that the sweep does not have.
    private func search(
        _ job: Job, _ driver: String, trials: () -> [KnownTrial], _ measure: (TrialSpec) throws -> Bool
    ) throws {
        guard let first = job.trials.first(where: { $0.driver == driver }) else { return }
        for _ in 0..<job.searchSteps where !interruption.isRaised {
            // Whole commits per second: the variant names the rate.
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

    /// Runs a trial with its companions and hands on its figures; nil when interrupted before it was through.
    private func run(_ spec: TrialSpec) throws -> KnownTrial? {
        var voids: [String] = []
        var run: GroupFigures?
        repeat {
            guard var group = self.run(makeGroup(spec)) else { return nil }
            // What a figure is the difference to is disturbed no less than the trial itself.
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

    /// nil when interrupted before the measured trial was through.
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
        return results[.measured].map { GroupFigures(group.spec, $0, beside: results) }
    }

    /// Of so many trials one may be repeated.
    private static let voidOneIn = 5

    private func overSweep(_ job: Job, _ driver: String, _ points: [SweepFigures.Point]) throws -> [Figure] {
        guard var spec = job.trials.first(where: { $0.driver == driver }) else { return [] }
        let sweep = SweepFigures(points: points)
        let figures = spec.metrics.flatMap { sweep.figures($0) }
        spec.variant = "*"
        spec.trial = 0
        if !figures.isEmpty { try delegate.measured(figures, of: spec, nil) }
        return figures
    }

    private func judge(
        _ job: Job, _ entries: [LimitCheck.Entry], _ yardsticks: [Yardstick: YardstickReading]
    ) throws {
        let own = entries.filter { !job.unjudged.contains($0.driver) }
        let check = LimitCheck(scenario: job.scenario, limits: job.limits, entries: own, yardsticks: yardsticks)
        for judgement in check.judgements() {
            try delegate.judged(judgement)
            switch judgement.verdict {
            // What a busy machine cannot tell is said, and is nothing against the store.
            case .kept, .unknown: break
            case .broken: outcome = outcome.worse(.limitBroken)
            }
        }
    }
}
