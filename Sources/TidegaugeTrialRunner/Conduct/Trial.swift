// One trial, from an empty folder to its figures. `measure` has the steps of a timed trial in order.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Runs one `TrialSpec` on one driver, in this process. The process should do nothing else.
public struct Trial {
    private let spec: TrialSpec
    private let driver: any StoreDriver
    private let storeDirectory: String
    private let hosts: [HostEntry]
    private let report: (TrialProgress) -> Void

    /// - Parameters:
    ///   - storeDirectory: an existing empty folder; for a `memory` store on a memory file system if there is one.
    ///   - hosts: the available hosts for specs that ask for several; if empty, processes of this machine are used.
    ///   - report: called with the progress, on the calling thread.
    /// - Returns: a result in every case; `fate` says how the trial ended.
    public static func run(
        _ spec: TrialSpec, on driver: any StoreDriver, storeDirectory: String, hosts: [HostEntry] = [],
        report: @escaping (TrialProgress) -> Void = { _ in }
    ) -> TrialResult {
        if let play = spec.interleaving {
            return InterleavingTrial.run(spec, driver, storeDirectory, play, report: report)
        }
        if let count = spec.count {
            let trial = CountedTrial(
                spec: spec, count: count, driver: driver, storeDirectory: storeDirectory, report: report)
            do { return try trial.measure() } catch { return TrialResult(TrialFault(error)) }
        }
        let trial = Trial(spec: spec, driver: driver, storeDirectory: storeDirectory, hosts: hosts, report: report)
        do {
            return try trial.measure()
        } catch let loss as HostLoss {
            return loss.result
        } catch {
            return TrialResult(TrialFault(error))
        }
    }

    private func measure() throws -> TrialResult {
        let setup = try TrialSetup(spec, driver, directory: storeDirectory, hosts: hosts, report)
        let companions = try Companions(setup)
        let (spec, plan, group, writing) = (setup.spec, setup.plan, setup.group, companions.writing)

        let window = try writing.launch()
        report(.init(.measuring))
        try companions.tell { try $0.warmUp(window) }
        Pacing.sleep(untilNs: window.startNs)
        try companions.tell { try $0.begin(window) }
        var reportNs = window.startNs
        try writing.awaitEnd { nowNs in
            try companions.tell { try $0.look(nowNs - window.startNs) }
            guard nowNs >= reportNs else { return }
            report(.init(.measuring, window: window, commits: writing.commitsSoFar, callbacks: group.callbacks))
            reportNs = nowNs + 500_000_000
        }
        companions.tell { $0.loadEnded() }

        report(.init(.settling))
        let past = Past(setup, window, writing.records)
        var (history, tokens) = try past.settle()
        let echoes = try writing.settle(history, plan, tokens: tokens)
        var findings = Findings(history, plan, window)
        try companions.end(into: &findings)

        report(.init(.checking))
        let endNs = MonotonicClock.nowNs()
        let logs = try group.logs()
        try past.finish(&history, logs, echoes, into: &findings)
        let oracle = Oracle(spec, driver.capabilities, setup.dataset, plan, history, logs + echoes.flatMap(\.logs))
        var verdict = try oracle.verdict(setup.store, group, held: findings.versions.handOver())
        try companions.close(logs, into: &findings)
        verdict.add(findings.violations)

        var result = FigureSheet(spec, endNs: endNs, history, logs, plan, verdict, findings, echoes).result()
        if let most = spec.traceEvents { result.recordings.trace = TraceSpans.spans(history, logs, window, most: most) }
        return result
    }
}

extension TrialResult {
    init(_ fault: TrialFault) {
        self.init(fate: .harnessFault(reason: fault.flag), notes: [fault.description])
        if case .unavailable = fault { isUnavailable = true }
        if case .hang(let reason) = fault { (fate, hangs) = (.hang, [HangReport.found(reason)]) }
    }
}

extension TrialSpec {
    /// Returns the violation with the scenario, driver, sweep point, trial and seed.
    func located(_ violation: String) -> String {
        let place = [scenario, driver, variant].filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(violation) [\(place), trial \(trial), seed \(seed)]"
    }
}
