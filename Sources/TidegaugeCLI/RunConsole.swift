// Between a run and those who look at it: figures to the report, trouble and progress to standard error, verdicts on
// limits to standard output at the end.
//
// Used by the running thread alone, but for `progressed`, which only reaches `Progress`.
import Harness
import Measure
import Report
import Scenario

final class RunConsole: RunnerDelegate, @unchecked Sendable {
    private let report: RunReport
    private let progress: Progress
    private var judgements: [(scenario: String, judgement: LimitJudgement)] = []

    init(_ report: RunReport, _ progress: Progress) {
        self.report = report
        self.progress = progress
    }

    func began(_ spec: TrialSpec, role: String, index: Int, of total: Int) {
        let words = [spec.scenario, spec.driver, spec.variant, "trial \(spec.trial)", role]
        progress.began(words.filter { !$0.isEmpty }.joined(separator: " "), index: index, of: total)
    }

    func progressed(_ spec: TrialSpec, _ progress: TrialProgress) { self.progress.progressed(progress) }

    func ended(_ spec: TrialSpec, _ result: TrialResult) {
        guard result.fate != .completed, result.fate != .interrupted else { return }
        let place = [spec.scenario, spec.driver, spec.variant].filter { !$0.isEmpty }.joined(separator: " ")
        progress.note("\(place) trial \(spec.trial), seed \(spec.seed): \(result.fate.flag ?? "")")
        for line in result.notes + result.violations { progress.note("  \(line)") }
        let hidden = result.violationCount - result.violations.count
        if hidden > 0 { progress.note("  and \(hidden) violations more") }
    }

    func skipped(scenario: String, driver: String, reason: String) {
        progress.note("\(scenario): skipped on \(driver): \(reason)")
    }

    func measured(_ figures: [Figure], of spec: TrialSpec) throws {
        try report.add(
            RunRow.rows(figures, of: spec, runID: report.run.runID, environment: report.run.environment))
    }

    func judged(_ judgement: LimitJudgement, scenario: String) { judgements.append((scenario, judgement)) }

    /// After the summary.
    func printJudgements() {
        progress.end()
        for (scenario, judgement) in judgements where judgement.verdict != .kept {
            print("limit \(judgement.verdict.rawValue): \(scenario): \(judgement.text)")
        }
    }
}
