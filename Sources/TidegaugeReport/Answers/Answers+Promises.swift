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

    /// Counts trials that hung. An expected hang that was detected counts as success.
    static func hung(_ record: RunRecord) -> Answer {
        let hung = record.trials.count(where: \.hasHung)
        // A trial that crashed, failed or was interrupted does not show whether it would have hung.
        let watched = record.trials.count { $0.hasHung || $0.fate == .completed || $0.fate == .oracleViolation }
        let plays = InterleavingTests(record)
        let source = plays.rows.isEmpty ? Answer.Source.hangs : .interleavingTests
        let warnings = record.trials.flatMap { $0.hangs ?? [] }.count { $0.kind == .inversion }
        let how = plays.rows.isEmpty ? "hung" : "hung unexpectedly"
        let trials =
            watched == 0 ? "no trial ran to its end" : "\(hung) of \(Humanised.count(watched, "trial")) \(how)"
        var words = plays.rows.isEmpty ? [trials, "no interleaving test was run"] : plays.sentences + [trials]
        if warnings > 0 { words.append("\(Humanised.count(warnings, "warning")) of lock order") }
        let isGood = hung == 0 && plays.isWell
        return Answer(
            .hung, watched == 0 ? Answer.none : "\(hung)", words.joined(separator: "; "), from: source,
            !isGood ? .bad : watched == 0 ? .open : .good)
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

extension TrialRecord {
    /// Whether the trial hung, except as expected. A crash and a warning of lock order are no hangs.
    fileprivate var hasHung: Bool {
        fate == .hang || (hangs ?? []).contains { !$0.isExpected && [.deadlock, .stall, .slow].contains($0.kind) }
    }
}
