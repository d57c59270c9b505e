// One trial from an empty folder to its figures. `measure` is the whole story in order; what it calls stands in
// `Watch` (observers), `Work` (writers), `Oracle` and `FigureSheet`.
import Measure
import Scenario
import StoreDriver

/// Runs one `TrialSpec` on one driver, in this process. The process should do nothing else.
public struct Trial {
    private let spec: TrialSpec
    private let driver: any StoreDriver
    private let storeDirectory: String
    private let report: (TrialProgress) -> Void

    /// - Parameters:
    ///   - storeDirectory: exists and is empty; on a memory file system for a `memory` store.
    ///   - report: called now and then on the calling thread.
    /// - Returns: a result in every case; `fate` says how the trial ended.
    public static func run(
        _ spec: TrialSpec, on driver: any StoreDriver, storeDirectory: String,
        report: @escaping (TrialProgress) -> Void = { _ in }
    ) -> TrialResult {
        if let play = spec.choreography {
            return ChoreographyTrial(
                spec: spec, driver: driver, storeDirectory: storeDirectory, play: play, report: report
            ).run()
        }
        let trial = Trial(spec: spec, driver: driver, storeDirectory: storeDirectory, report: report)
        do {
            return try trial.measure()
        } catch let fault as TrialFault {
            return trial.result(of: fault)
        } catch let fault as DriverUnavailable {
            return trial.result(of: .unavailable(fault.description))
        } catch {
            return trial.result(of: .store("\(error)"))
        }
    }

    private func measure() throws -> TrialResult {
        try Fitness.check(spec, driver.capabilities)
        var spec = spec
        // The one who is killed, and the one who goes on.
        if spec.fault.kind == .writerKilled { spec.writers.threads = 2 }
        let dataset = Dataset(spec)

        report(.init(.loading))
        let opened = try driver.open(configuration)
        let injected = InjectedFault(spec.fault)
        let store = injected.wrap(spec.shim?.wrap(opened) ?? opened)
        try store.load(count: dataset.count) { dataset.item(at: $0) }
        let neighbour = try Neighbour(spec, driver, configuration)

        report(.init(.subscribing))
        let departed = try Departed(spec, store)
        spec = departed?.rest ?? spec
        let plan = QueryPlan(spec.observers, items: spec.dataset.items)
        let holder = try spec.observers.subscribe == .locked ? LockHolder(store, spec.hangTimeoutNs) : nil
        let watch = try Watch(spec, plan, store, sampling: driver.capabilities)
        try watch.awaitInitialDeliveries()
        try holder?.release()
        let audit = try Audit(spec, dataset, watch, store, driver.capabilities)

        let churn = try Churn(spec, plan, store)

        let floor = spec.asks(\.needsWakeProbe) ? try WakeProbe() : nil
        let stalls = try StallProbe(spec, store, watch)
        let work: any WritingSide =
            spec.writers.process == .own
            ? RemoteWork(spec, dataset, plan, store, directory: storeDirectory)
            : try Work(spec, dataset, plan, store, .init(floor: floor, stalls: stalls, watch: watch))
        let witness = try KilledObserver(spec, directory: storeDirectory)
        let calls = FaultyCalls(spec)
        let window = try work.begin()
        report(.init(.measuring))
        // Before the window, so that its thread has its name when CPU clocks are first read.
        let hiccup = HiccupProbe()
        hiccup.start()
        let stall = Stall(spec, window)
        let versions = try VersionMeter(spec, store, window)
        let clockNs = ClockCost.measure()
        Pacing.sleep(untilNs: window.startNs)
        let pressure = PressureProbe.read()
        let allocations = spec.asks(\.countsAllocations) ? AllocationWindow(work, watch) : nil
        let holdings = try HoldingsMeter(spec, store, window) { work.commitsSoFar }
        churn?.start()
        let queued = CPUWindow.runQueue()
        let cpu = CPUWindow()
        let disk = FullDisk(spec, window, directory: storeDirectory)
        let look = { (nowNs: Int64) in
            try versions.look(nowNs)
            try holdings?.look(nowNs)
            witness?.look(nowNs, window)
            disk?.look(nowNs)
            calls?.look(nowNs, window)
        }
        try work.awaitEnd(look: look) {
            report(.init(.measuring, window: window, commits: $0, callbacks: watch.callbacks))
        }
        let noise = PressureProbe.read().since(pressure)
        let contention = queued.flatMap { start in CPUWindow.runQueue().map { $0.since(start) } }
        let loadEndNs = MonotonicClock.nowNs()

        report(.init(.settling))
        let history = History(
            spec: spec, dataset: dataset, plan: plan, writers: work.records,
            unmade: Unmade.rest(of: spec, window, made: work.records.map(\.count)))
        try watch.awaitQuiescence(history)
        let affected = AffectedCommits(history, plan)
        let commits = affected.count(from: window.startNs, affecting: false)
        let affecting = affected.count(from: window.startNs, affecting: true)
        let account = cpu.close(driver, spunNs: work.spunNs, commits: commits, affectingCommits: affecting)
        let heap = allocations?.close(commits: commits, affectingCommits: affecting)
        try churn?.rest()
        let held = try holdings?.stop()
        // Not earlier: a thread that is gone has no CPU clock to take off.
        let hiccups = hiccup.stop()
        work.dismiss()
        stall?.join()
        disk?.end()
        calls?.end()
        witness?.end()
        var probes = ProbeSamples(wakeFloor: floor?.stop(), stalls: try stalls?.stop(window))
        probes.versions = try versions.stop()
        probes.clockNs = clockNs
        if let held { probes.holdings = held }
        probes.allocations = heap
        probes.recoveryNs = work.recoveryNs
        probes.refusals = work.refusals
        if spec.asks({ $0 == .recordingCost || $0 == .recordingBytes }) { probes.recording = try RecordingCost() }
        let neighbourCommits = try neighbour?.stop()
        try churn?.stop()

        report(.init(.checking))
        let endNs = MonotonicClock.nowNs()
        let logs = try watch.logs()
        let (audits, torn) = try audit.stop()
        var verdict = try Oracle(spec, driver.capabilities, dataset, plan, history, logs).verdict(store, watch)
        verdict.add(torn.map(spec.located))
        verdict.add(try Silence.check(store, watch, logs).map(spec.located))
        if let churn { verdict.add(try churn.violations().map(spec.located)) }
        if let departed { verdict.add(departed.stop().map(spec.located)) }

        let sheet = FigureSheet(spec, window, endNs: endNs, history, logs, plan, verdict, account, hiccups, probes)
        var result = sheet.result()
        if spec.fault.kind.mustBeCaught {
            result.expectCaught(spec, harmed: injected.harmedCount)
        }
        result.noise = NoiseAccount(
            noise, hiccups, contention: contention, lengthNs: loadEndNs - window.startNs)
        result.allocations = heap
        if spec.observers.audit == .sums { result.counts["audits"] = audits }
        if let churn { result.counts["churned_observers"] = churn.made }
        if let neighbourCommits { result.counts["neighbour_commits"] = neighbourCommits }
        if let most = spec.traceEvents { result.recordings.trace = TraceSpans.spans(history, logs, window, most: most) }
        return result
    }

    private var configuration: StoreConfiguration {
        StoreConfiguration(spec, directory: storeDirectory)
    }

    private func result(of fault: TrialFault) -> TrialResult {
        let fate: TrialFate =
            switch fault {
            case .hang: .hang
            case .refused, .store, .unavailable, .harness: .harnessFault(reason: fault.flag)
            }
        var result = TrialResult(fate: fate, notes: [fault.description])
        if case .unavailable = fault { result.isUnavailable = true }
        if case .hang(let reason) = fault { result.hangs = [HangReport.found(reason)] }
        return result
    }
}

/// The measured window on the monotonic clock: commits due in it are measured.
struct Window: Sendable {
    var startNs: Int64
    var endNs: Int64

    func contains(_ dueNs: Int64) -> Bool { dueNs >= startNs && dueNs < endNs }
}

/// Where a trial stands.
public struct TrialProgress: Codable, Sendable {
    public enum Phase: String, Codable, Sendable {
        case loading, subscribing, measuring, settling, checking
    }

    public var phase: Phase
    /// Of the measured window, 0 … 1 (above 1 while writers are late).
    public var fraction: Double
    public var commits: Int
    public var callbacks: Int

    init(_ phase: Phase) {
        self.phase = phase
        fraction = phase == .settling || phase == .checking ? 1 : 0
        commits = 0
        callbacks = 0
    }

    init(_ phase: Phase, window: Window, commits: Int, callbacks: Int) {
        self.phase = phase
        fraction = Double(MonotonicClock.nowNs() - window.startNs) / Double(max(window.endNs - window.startNs, 1))
        self.commits = commits
        self.callbacks = callbacks
    }
}

extension TrialSpec {
    /// Whether any metric asked for is so.
    func asks(_ isSo: (Metric) -> Bool) -> Bool {
        measure.lazy.compactMap { Metric(rawValue: $0) }.contains(where: isSo)
    }

    /// A violation with what is needed to see it again.
    func located(_ violation: String) -> String {
        let place = [scenario, driver, variant].filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(violation) [\(place), trial \(trial), seed \(seed)]"
    }
}
