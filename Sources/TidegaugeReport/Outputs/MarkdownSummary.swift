// summary.md: a run as a pull request comment: verdict, answers, findings and the comparison with a baseline. The rest
// is folded. Pure.
import TidegaugeSpec

enum MarkdownSummary {
    /// Maximum number of findings. Further ones are counted.
    private static let mostLines = 10

    static func render(_ record: RunRecord) -> String {
        let verdict = record.verdict
        var text = """
            ### Tidegauge: \(verdict.isGood ? "✅" : "❌") \(verdict.word)

            \(Humanised.count(record.trials.count, "trial")) of \
            \(Humanised.count(record.scenarioNames.count, "scenario")) on \(drivers(record)), \
            profile \(record.header.profile.rawValue), commit `\(record.environment.commit.prefix(12))`\
            \(record.environment.dirty ? " with changes" : "").


            """
        text += AnswersText.markdown(record)
        text += findings(Finding.all(record).filter { $0.kind != .open })
        text += record.compared?.markdown ?? ""
        text += gates(record)
        text += interleavingTests(record)
        let open = Finding.all(record).filter { $0.kind == .open }.map {
            "- \(Escaped.markdown("\($0.scenario) \($0.what)")): \(Escaped.markdown($0.remark))\n"
        }
        if !open.isEmpty { text += Markdown.folded("Limits that cannot be judged here: \(open.count)", open.joined()) }
        let skipped = record.skipped.map {
            "- \(Escaped.markdown($0.scenario)) on \(Escaped.markdown($0.driver)): \(Escaped.markdown($0.reason))\n"
        }
        if !skipped.isEmpty { text += Markdown.folded("Skipped: \(skipped.count)", skipped.joined()) }
        let machine = EnvironmentLines.lines(record).map { "- \($0.name): \(Escaped.markdown($0.value))\n" }.joined()
        return text + Markdown.folded("Machine", machine)
    }

    /// Lists the engines that were expected to complete, then the number of known-bad controls.
    private static func drivers(_ record: RunRecord) -> String {
        let plays = InterleavingTests(record)
        // A driver can be a control in one interleaving test and an engine in others.
        let engines = plays.engines + record.trials.filter { $0.spec.interleaving == nil }.map(\.spec.driver)
        let controls = Set(plays.rows.flatMap(\.controls).map(\.driver)).subtracting(engines)
        let all = Digest.inOrder(record.trials.map(\.spec.driver))
        let named = all.filter { !controls.contains($0) }.map { Escaped.markdown($0) }
        let rest = all.count - named.count
        if all.isEmpty { return "no driver" }
        return (named + (rest > 0 ? [Humanised.count(rest, "known-bad control")] : [])).joined(separator: ", ")
    }

    private static func findings(_ all: [Finding]) -> String {
        // Figures worse than the baseline are listed with the baseline.
        let own = all.filter { $0.kind == .failed || $0.kind == .broken }
        guard !own.isEmpty else { return "" }
        let rows = own.prefix(mostLines).map { finding in
            [
                finding.kind.rawValue,
                Escaped.markdown("\(finding.scenario) \(finding.what)")
                    + (finding.remark.isEmpty ? "" : ": \(Escaped.markdown(finding.remark))"),
                Escaped.markdown(finding.here), Escaped.markdown(finding.bound),
                finding.share.map { ComparedCells.share($0) } ?? "",
            ]
        }
        let more = own.count > mostLines ? "\nand \(own.count - mostLines) more in report.html\n" : ""
        return "**Broken**\n\n"
            + Markdown.table(["", "what", "here", "limit", "by"], [.word, .word, .figure, .figure, .figure], rows)
            + more + "\n"
    }

    /// One line per scenario and driver with its gate (the figure by which commits are compared). Interleaving tests
    /// have their own table.
    private static func gates(_ record: RunRecord) -> String {
        let rows = record.scenarioNames.filter { record.scenario($0)?.gate != .interleavingTestTime }.flatMap { name in
            Digest.gate(name, record).map { gate in
                [
                    Escaped.markdown(name), Escaped.markdown(gate.driver), "`\(gate.name)` \(gate.worse.mark)",
                    Escaped.markdown(gate.text + gate.range),
                ]
            }
        }
        if rows.isEmpty { return "" }
        return Markdown.folded(
            "Gates: \(rows.count), the figures that commits are compared by (\(Direction.legend))",
            Markdown.table(["scenario", "driver", "gate", "figure"], [.word, .word, .word, .figure], rows))
    }

    private static func interleavingTests(_ record: RunRecord) -> String {
        let plays = InterleavingTests(record)
        guard !plays.rows.isEmpty else { return "" }
        let rows = plays.rows.map { row in
            [Escaped.markdown(row.scenario)] + row.outcomes.map { Escaped.markdown(InterleavingWords.cell($0)) } + [
                row.controls.map { Escaped.markdown("\($0.driver) \(InterleavingWords.cell($0.outcome))") }.joined(
                    separator: ", ")
            ]
        }
        let titles = [""] + plays.engines.map { Escaped.markdown($0) } + ["known-bad control"]
        return Markdown.folded(
            "Interleaving tests: \(Escaped.markdown(plays.sentences.joined(separator: "; ")))",
            Markdown.table(titles, titles.map { _ in .word }, rows))
    }
}
