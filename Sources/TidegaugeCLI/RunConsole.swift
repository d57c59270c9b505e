// Between a run and those who look at it: figures and events to the report, trouble and progress to standard error,
// verdicts on limits to standard output at the end.
//
// Used by the running thread alone, but for `progressed`, which only reaches `Progress`.
import Harness
import Measure
import Report
import Scenario

final class RunConsole: RunnerDelegate, @unchecked Sendable {
    private let report: RunReport
    private let progress: Progress
    private let resumption: Resumption?
    private var judgements: [(scenario: String, judgement: LimitJudgement)] = []
    /// What the report could not take from a call that throws nothing.
    private var failure: (any Error)?

    init(_ report: RunReport, _ progress: Progress, _ resumption: Resumption?) {
        self.report = report
        self.progress = progress
        self.resumption = resumption
    }

    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) {
        let words = [spec.scenario, spec.driver, spec.variant, "trial \(spec.trial)", role]
        progress.began(words.filter { !$0.isEmpty }.joined(separator: " "), index: index, of: total)
    }

    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) { self.progress.progressed(progress) }

    func ended(_ spec: TrialSpec, _ result: TrialResult) {
        guard result.fate != .completed, result.fate != .interrupted else { return }
        let place = [spec.scenario, spec.driver, spec.variant].filter { !$0.isEmpty }.joined(separator: " ")
        progress.note("\(place) trial \(spec.trial), seed \(spec.seed): \(result.fate.flag?.text ?? "")")
        for line in result.notes + result.violations { progress.note("  \(line)") }
        let hidden = result.violationCount - result.violations.count
        if hidden > 0 { progress.note("  and \(hidden) violations more") }
    }

    func skipped(scenario: String, driver: String, reason: String) {
        progress.note("\(scenario): skipped on \(driver): \(reason)")
        do {
            try report.add(.skipped(SkippedRecord(scenario: scenario, driver: driver, reason: reason)))
        } catch {
            failure = failure ?? error
        }
    }

    func measured(_ figures: [Figure], of spec: TrialSpec, _ result: TrialResult?) throws {
        if let failure { throw failure }
        try report.add(
            RunRow.rows(figures, of: spec, runID: report.run.runID, environment: report.run.environment))
        guard let result else { return }
        try report.add(result.recordings, of: TrialKey(spec))
        try report.add(
            .trial(
                TrialRecord(
                    spec: spec, fate: result.fate, isUnavailable: result.isUnavailable, notes: result.notes,
                    violations: result.violations, violationCount: result.violationCount, counts: result.counts,
                    processCPUPerCommitNs: result.cpu?.perCommitNs, hangs: result.hangs)))
    }

    func known(_ spec: TrialSpec) -> KnownTrial? {
        guard let resumption, let trial = resumption.finished[TrialKey(spec)] else { return nil }
        var result = TrialResult(fate: trial.fate, notes: trial.notes)
        result.isUnavailable = trial.isUnavailable
        return KnownTrial(
            figures: resumption.figures(of: trial.key), result: result,
            processCPUPerCommitNs: trial.processCPUPerCommitNs)
    }

    func judged(_ judgement: LimitJudgement, scenario: String) throws {
        judgements.append((scenario, judgement))
        try report.add(
            .judged(
                JudgementRecord(
                    scenario: scenario, driver: judgement.driver,
                    verdict: JudgementRecord.Verdict(rawValue: judgement.verdict.rawValue)!, text: judgement.text)))
    }

    /// After the summary.
    func printJudgements() {
        for (scenario, judgement) in judgements where judgement.verdict != .kept {
            print("limit \(judgement.verdict.rawValue): \(scenario): \(judgement.text)")
        }
    }
}
