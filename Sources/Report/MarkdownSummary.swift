// summary.md: what a pull request needs to see of a run. The verdict, what is wrong, one line per scenario; the rest is
// folded away. Pure.
import Scenario
import Trials

enum MarkdownSummary {
    static func render(_ record: RunRecord) -> String {
        let verdict = record.verdict
        let drivers = Digest.inOrder(record.trials.map(\.spec.driver)).map(Escaped.markdown).joined(separator: ", ")
        var text = """
            ### Tidegauge: \(verdict.isGood ? "✅" : "❌") \(verdict.word)

            \(Humanised.count(record.trials.count, "trial")) of \
            \(Humanised.count(record.scenarioNames.count, "scenario")) on \(drivers.isEmpty ? "no driver" : drivers), \
            profile \(record.header.profile.rawValue), commit `\(record.environment.commit.prefix(12))`\
            \(record.environment.dirty ? " with changes" : "").


            """
        text += list("Limits broken", judgements(record, .broken))
        text += list("Limits that nothing can be said about", judgements(record, .unknown))
        text += list("Trials that did not complete", record.voided.map(line))
        text += record.compared?.markdown ?? ""
        text += gates(record)
        text += folded("All headline figures", record.scenarioNames.map { table($0, record) }.joined(separator: "\n"))
        let skipped = record.skipped.map {
            "\(Escaped.markdown($0.scenario)) on \(Escaped.markdown($0.driver)): \(Escaped.markdown($0.reason))"
        }
        if !skipped.isEmpty { text += folded("Skipped", skipped.map { "- \($0)\n" }.joined()) }
        let machine = EnvironmentLines.lines(record).map { "- \($0.name): \(Escaped.markdown($0.value))\n" }.joined()
        return text + folded("Machine", machine)
    }

    private static func judgements(_ record: RunRecord, _ verdict: Judgement.Verdict) -> [String] {
        record.judgements.filter { $0.verdict == verdict }.map {
            "**\(Escaped.markdown($0.scenario))** \(Escaped.markdown($0.text))"
        }
    }

    private static func line(_ trial: TrialRecord) -> String {
        let place = [trial.spec.scenario, trial.spec.driver, trial.spec.variant, "trial \(trial.spec.trial)"]
        let why = ([trial.fate.flag?.text ?? ""] + trial.notes.prefix(1) + trial.violations.prefix(1))
        return Escaped.markdown(place.filter { !$0.isEmpty }.joined(separator: " ")) + ": "
            + Escaped.markdown(why.joined(separator: "; ")) + ", seed \(trial.spec.seed)"
    }

    private static func list(_ title: String, _ lines: [String], most: Int = 10) -> String {
        guard !lines.isEmpty else { return "" }
        let more = lines.count > most ? "- and \(lines.count - most) more\n" : ""
        return "**\(title)**\n\n" + lines.prefix(most).map { "- \($0)\n" }.joined() + more + "\n"
    }

    /// One line per scenario and driver: the metric that commits are compared by.
    private static func gates(_ record: RunRecord) -> String {
        let rows = record.scenarioNames.flatMap { name in
            Digest.gate(name, record).map { gate in
                [Escaped.markdown(name), Escaped.markdown(gate.driver), "`\(gate.name)`", gate.text]
            }
        }
        return rows.isEmpty ? "" : table(["scenario", "driver", "gate", "figure"], words: 3, rows) + "\n"
    }

    private static func table(_ scenario: String, _ record: RunRecord) -> String {
        let table = Digest.table(scenario, record.rows)
        guard !table.titles.isEmpty else { return "" }
        let rows = table.rows.map { [Escaped.markdown($0.driver), Escaped.markdown($0.variant)] + $0.cells }
        return "**\(Escaped.markdown(scenario))**\n\n"
            + Self.table(["driver", "variant"] + table.titles, words: 2, rows)
    }

    /// - Parameter words: so many columns; figures follow.
    static func table(_ titles: [String], words: Int, _ rows: [[String]]) -> String {
        let rule = titles.indices.map { $0 < words ? "---|" : "--:|" }.joined()
        let lines = ([titles] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }
        return lines[0] + "|\(rule)\n" + lines.dropFirst().joined()
    }

    static func folded(_ title: String, _ body: String) -> String {
        "<details><summary>\(title)</summary>\n\n\(body)\n</details>\n\n"
    }
}
