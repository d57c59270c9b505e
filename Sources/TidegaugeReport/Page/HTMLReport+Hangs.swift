// The section about hangs in report.html. Pure.
import TidegaugeMeasure

extension HTMLReport {
    /// Hangs in the order unexpected, expected, warnings. Their numbers are those of the files in `hangs/`.
    static func hangs(_ record: RunRecord) -> [[String: Any]] {
        var number = 0
        var entries: [(rank: Int, values: [String: Any])] = []
        for trial in record.trials {
            for hang in trial.hangs ?? [] {
                let isWarning = hang.kind == .inversion
                if !isWarning { number += 1 }
                let place = [trial.spec.scenario, trial.spec.driver, trial.spec.variant].filter { !$0.isEmpty }
                let values: [String: Any?] = [
                    "kind": isWarning ? "lock order" : hang.kind.rawValue,
                    "tone": hang.isExpected || isWarning ? "good" : "bad", "expected": hang.isExpected && !isWarning,
                    "place": Escaped.visible(place.joined(separator: " ")),
                    "cycle": Escaped.visible(hang.cycle.joined(separator: ", ")),
                    "sentence": Escaped.visible(hang.sentence),
                    "after": hang.afterNs > 0 ? "\(hang.afterNs / 1_000_000)" : nil,
                    "replay": isWarning ? nil : "tidegauge replay hangs/\(number).json",
                    "stands": hang.stands.map(stand),
                ]
                entries.append((isWarning ? 2 : hang.isExpected ? 1 : 0, values.compactMapValues { $0 }))
            }
        }
        return entries.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element.values)
    }

    private static func stand(_ stand: HangRecord.Stand) -> [String: Any] {
        let values: [String: Any?] = [
            "thread": Escaped.visible("\(stand.thread) (\(stand.tid))"),
            "holds": stand.holds.map { Escaped.visible($0) }, "waits": stand.waitsFor.map { Escaped.visible($0) },
            "hasStack": !stand.stack.isEmpty,
            "stack": Escaped.visible(stand.stack.prefix(24).joined(separator: "\n")),
        ]
        return values.compactMapValues { $0 }
    }
}
