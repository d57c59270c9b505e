// The three answers about correctness and regressions: lost or wrong results, hangs, changes since the baseline. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

extension Answers {
    /// Counts missed final states and violations of all engines.
    static func lostOrWrong(_ record: RunRecord) -> Answer {
        guard !record.trials.isEmpty else { return .unknown(.lostOrWrong, "nothing ran", from: .integrity) }
        func sum(_ metric: Metric) -> Int {
            let own = record.rows.filter { $0.figure.metric == metric && $0.figure.statistic == .value }
            // Limited to half of the range, so that two sums can be added.
            return max(0, min(Int(nearest: own.reduce(0) { $0 + ($1.figure.value ?? 0) }), .max / 2))
        }
        let (missed, violations) = (sum(.missedFinal), sum(.oracleViolations))
        let broken = record.voided.count { $0.fate == .oracleViolation }
        let failed = record.voided.count { $0.fate != .oracleViolation && $0.fate != .hang }
        let wrong = max(missed + violations, broken)
        var meaning =
            "of \(Humanised.count(record.trials.count, "trial")): missed final states \(missed), "
            + "broken promises \(max(violations, broken))"
        if failed > 0 { meaning += "; \(Humanised.count(failed, "trial")) did not complete" }
        return Answer(
            .lostOrWrong, "\(wrong)", meaning, from: .integrity, wrong + failed == 0 ? .good : .bad)
    }

    /// Counts hangs. An expected hang that was detected counts as success.
    static func hung(_ record: RunRecord) -> Answer {
        let hung = record.trials.count { trial in
            trial.fate == .hang || (trial.hangs ?? []).contains { !$0.isExpected && $0.kind != .inversion }
        }
        let plays = InterleavingTests(record)
        let source = plays.rows.isEmpty ? Answer.Source.hangs : .interleavingTests
        let warnings = record.trials.flatMap { $0.hangs ?? [] }.count { $0.kind == .inversion }
        var words = plays.rows.isEmpty ? ["no interleaving test was run"] : plays.sentences
        if warnings > 0 { words.append("\(Humanised.count(warnings, "warning")) of lock order") }
        let isGood = hung == 0 && plays.isWell
        return Answer(
            .hung, "\(hung)", words.joined(separator: "; "), from: source,
            record.trials.isEmpty ? .open : isGood ? .good : .bad)
    }

    static func worse(_ record: RunRecord) -> Answer {
        guard let compared = record.compared else {
            let header = record.header
            let why =
                switch (header.baseline, header.savedBaseline) {
                case (let compared?, let saved?) where compared == saved:
                    "No baseline yet. This run becomes the baseline if it passes."
                case (nil, let saved?):
                    "Not compared with an earlier run. Next time add '--baseline \(saved)'."
                default:
                    "Not compared with an earlier run. Add '--save-baseline last' now, and '--baseline last' next time."
                }
            return .unknown(.worse, why, from: nil)
        }
        if let obstacle = compared.obstacle {
            return .unknown(.worse, "not compared with '\(compared.name)': \(obstacle)", from: .baseline)
        }
        let clocks =
            compared.clockObstacle == nil
            ? "\(compared.slower.count) of \(compared.clocks) clocks slower" : "clocks not compared"
        return Answer(
            .worse, "\(compared.worse.count)",
            "of \(Humanised.count(compared.counts, "count")) worse, \(clocks); since "
                + (compared.runID ?? "'\(compared.name)'"), from: .baseline,
            compared.worse.isEmpty ? .good : .bad)
    }
}
