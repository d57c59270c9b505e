// Connects a run with its outputs: the report, standard error and standard output.
import TidegaugeMeasure
import TidegaugeReport
import TidegaugeRun
import TidegaugeSpec
import TidegaugeTrial

// Unchecked because the running thread alone uses it, but for `progressed`, which only reaches `Progress`.
final class RunConsole: RunnerDelegate, @unchecked Sendable {
    private let report: RunReport
    private let progress: Progress
    private let resumption: Resumption?
    private var judgements: [Judgement] = []
    private var scenarios: Set<String> = []
    /// Number of trials, including those of an earlier part of the run. Companion trials, which run for a figure of a
    /// trial (without subscriptions, or on the no-op driver), are not counted.
    private var trials = 0
    /// Number of trials that did not complete, or of which a companion trial did not, by the first fate.
    private var failures: [String: Int] = [:]
    /// Trials with a counted failure, without their role.
    private var failed: Set<String> = []
    /// Role of the trial that runs.
    private var role = ""
    /// Error of a report call in a method that cannot throw.
    private var failure: (any Error)?

    init(_ report: RunReport, _ progress: Progress, _ resumption: Resumption?) {
        (self.report, self.progress, self.resumption) = (report, progress, resumption)
    }

    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) {
        self.role = role
        let words = [spec.scenario, spec.driver, spec.variant, "trial \(spec.trial)", role]
        progress.began(words.filter { !$0.isEmpty }.joined(separator: " "), index: index, of: total)
    }

    func planned(leftNs: Int64) { progress.planned(leftNs: leftNs) }

    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) { self.progress.progressed(progress) }

    func ended(_ spec: TrialSpec, _ result: TrialResult) {
        guard result.fate != .completed else { return }
        let words = [spec.scenario, spec.driver, spec.variant, "trial \(spec.trial)"]
        let place = words.filter { !$0.isEmpty }.joined(separator: " ")
        let isFirst = failed.insert(place).inserted
        if isFirst { count(result.fate) }
        guard result.fate != .interrupted else { return }
        let companion = role == "measured" ? "" : " (\(role))"
        progress.note("\(place)\(companion), seed \(spec.seed): \(result.fate.flag?.text ?? "")")
        // A companion trial mostly fails like its trial, so only the first line of each note is shown again.
        for line in result.notes + result.violations {
            progress.note("  \(isFirst ? line : String(line.prefix { $0 != "\n" }))")
        }
        let hidden = result.violationCount - result.violations.count
        if hidden > 0 { progress.note("  and \(hidden) violations more") }
    }

    func skipped(_ record: SkippedRecord) {
        progress.note("\(record.scenario): skipped on \(record.driver): \(record.reason)")
        do {
            try report.add(.skipped(record))
        } catch {
            failure = failure ?? error
        }
    }

    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) throws {
        if let failure { throw failure }
        try report.add(RunRow.rows(figures, of: spec, runID: report.run.runID, environment: report.run.environment))
        guard let result else { return }
        count(spec)
        try report.add(result.recordings, of: TrialKey(spec))
        try report.add(.trial(TrialRecord(result, of: spec)))
    }

    func known(_ spec: TrialSpec) -> KnownTrial? {
        guard let resumption, let trial = resumption.finished[TrialKey(spec)] else { return nil }
        count(spec)
        count(trial.fate)
        return KnownTrial(figures: resumption.figures(of: trial.key), record: trial)
    }

    func judged(_ judgement: Judgement) throws {
        judgements.append(judgement)
        try report.add(.judged(judgement))
    }

    private func count(_ spec: TrialSpec) {
        trials += 1
        scenarios.insert(spec.scenario)
    }

    private func count(_ fate: TrialFate) { if let word = Self.word(fate) { failures[word, default: 0] += 1 } }

    private static func word(_ fate: TrialFate) -> String? {
        switch fate {
        case .completed: nil
        case .crashed: "crashed"
        case .killed: "killed"
        case .hang: "hung"
        case .oracleViolation: "broke a promise"
        case .harnessFault(let reason) where reason.hasPrefix("engine_") || reason == "store_error":
            "failed in the engine"
        case .harnessFault: "failed in the harness"
        case .interrupted: "interrupted"
        }
    }

    /// Prints the results of the whole run after the tables: details, then a summary.
    /// - Parameters:
    ///   - baseline: details and summary of the comparison with a baseline.
    ///   - answers: the answers, one line each.
    ///   - unjudged: lines about drivers on which limits were not judged.
    func printVerdict(
        _ baseline: (details: [String], summary: [String]), answers: [String], unjudged: [String]
    ) {
        print("")
        for line in answers { print(TerminalOutput.wrapped(line)) }
        print("")
        for verdict in [Judgement.Verdict.unknown, .broken] {
            for judgement in judgements where judgement.verdict == verdict {
                let word = verdict == .unknown ? "not judged" : verdict.rawValue
                let line = Escaped.visible("limit \(word): \(judgement.scenario): \(judgement.text)")
                print(TerminalOutput.coloured(TerminalOutput.wrapped(line)))
            }
        }
        for line in baseline.details { print(TerminalOutput.wrapped(line)) }
        let ran = "\(Humanised.count(trials, "trial")) of \(Humanised.count(scenarios.count, "scenario")): \(fates)"
        for line in [ran] + (judgements.isEmpty ? [] : [limits]) + unjudged + baseline.summary {
            print(TerminalOutput.wrapped(Escaped.visible(line)))
        }
    }

    private var fates: String {
        if failures.isEmpty { return trials == 0 ? "nothing ran" : "nothing lost, nothing wrong, nothing hung" }
        return failures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    private var limits: String {
        func count(_ verdict: Judgement.Verdict) -> Int { judgements.count { $0.verdict == verdict } }
        let kept = "limits: \(count(.kept)) of \(judgements.count) kept"
        let broken = count(.broken) == 0 ? [] : ["\(count(.broken)) broken"]
        let unknown = count(.unknown) == 0 ? [] : ["\(count(.unknown)) not judged (the reason is beside each, above)"]
        return ([kept] + broken + unknown).joined(separator: ", ")
    }
}
