// Between a run and those who look at it: figures and events to the report, trouble and progress to standard error,
// verdicts on limits to standard output at the end.
import Measure
import Report
import Runs
import Scenario
import Trials

// Unchecked because the running thread alone uses it, but for `progressed`, which only reaches `Progress`.
final class RunConsole: RunnerDelegate, @unchecked Sendable {
    private let report: RunReport
    private let progress: Progress
    private let resumption: Resumption?
    private var judgements: [Judgement] = []
    /// What the report could not take from a call that throws nothing.
    private var failure: (any Error)?

    init(_ report: RunReport, _ progress: Progress, _ resumption: Resumption?) {
        (self.report, self.progress, self.resumption) = (report, progress, resumption)
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
        try report.add(result.recordings, of: TrialKey(spec))
        try report.add(.trial(TrialRecord(result, of: spec)))
    }

    func known(_ spec: TrialSpec) -> KnownTrial? {
        guard let resumption, let trial = resumption.finished[TrialKey(spec)] else { return nil }
        return KnownTrial(figures: resumption.figures(of: trial.key), record: trial)
    }

    func judged(_ judgement: Judgement) throws {
        judgements.append(judgement)
        try report.add(.judged(judgement))
    }

    /// After the summary.
    func printJudgements() {
        for judgement in judgements where judgement.verdict != .kept {
            print("limit \(judgement.verdict.rawValue): \(judgement.scenario): \(judgement.text)")
        }
    }
}
