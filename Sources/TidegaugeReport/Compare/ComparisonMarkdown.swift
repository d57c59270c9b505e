// summary.md of a comparison, for a pull request: the verdict, suspected gates, changes and failures. Other gates, void
// pairs and what was not compared are folded. Pure.
import TidegaugeCompare
import TidegaugeSpec

enum ComparisonMarkdown {
    static func render(_ judged: JudgedComparison) -> String {
        let plan = judged.record.plan
        let mark =
            switch judged.outcome.word {
            case .pass: "✅"
            case .inconclusive: "❔"
            case .regressed, .failing: "❌"
            }
        let scope = plan.isCountedOnly ? "counts alone" : Humanised.count(plan.subjects.count, "gate")
        var text = """
            ### Tidegauge: \(mark) \(Escaped.markdown(ComparisonConsole.verdict(judged)))

            `\(plan.base.label)` → `\(plan.head.label)`, \(scope), \
            profile \(plan.profile.rawValue)\(judged.record.isFinished ? "" : ", not finished").


            """
        let suspects = judged.suspects
        if !suspects.isEmpty { text += "**Suspected**, and not confirmed\n\n" + table(suspects) + "\n" }
        text += CountedText.markdown(judged)
        text += "**By the clock**: \(Escaped.markdown(ClockText.summary(judged)))\n\n"
        let changed = judged.gates.filter(\.isNews)
        if !changed.isEmpty { text += "**Gates that moved**\n\n" + table(changed) + "\n" }
        let failures = judged.failures.map {
            "\(Escaped.markdown($0.subject)): \($0.side): \(Escaped.markdown($0.text(notes: 1)))"
        }
        if !failures.isEmpty {
            text += "**Trials that did not complete**\n\n" + failures.prefix(10).map { "- \($0)\n" }.joined() + "\n"
        }
        let advice = judged.news.filter { $0.change != nil }
        if !advice.isEmpty {
            text +=
                "**Also moved** (advice: of these, 5 % are expected to be chance)\n\n" + table(Array(advice.prefix(12)))
            text += advice.count > 12 ? "\nand \(advice.count - 12) more in effects.csv\n\n" : "\n"
        }
        for (word, verdict) in [("Inconclusive", Verdict.inconclusive), ("Unchanged", .unchanged)] {
            let gates = judged.gates.filter { $0.verdict == verdict }
            if !gates.isEmpty { text += Markdown.folded("\(word) gates (\(gates.count))", table(gates)) }
        }
        let sides = judged.news.filter { $0.change == nil }.map { "\($0.verdict.rawValue): \(ComparedCells($0).what)" }
        let apart = sides + (plan.oneSided + judged.record.uncounted).map { "\($0.what): \($0.why)" }
        let lines = apart.map { "- \(Escaped.markdown($0))\n" }.joined()
        if !apart.isEmpty { text += Markdown.folded("Not compared", lines) }
        let voids = judged.voids.map { "- \(Escaped.markdown($0.subject)) pair \($0.pair): \($0.reason)\n" }
        if !voids.isEmpty { text += Markdown.folded("Void pairs, run again (\(voids.count))", voids.joined()) }
        return text
    }

    /// Returns annotation commands for GitHub's runner: an error for a regressed count or gate, a warning for a
    /// suspected one, a notice for an inconclusive one.
    static func annotations(_ judged: JudgedComparison) -> String {
        let counted = judged.record.counted.map { annotation($0.verdict, CountedText.annotation($0)) }
        let gates = judged.gates.map { row in
            let cells = ComparedCells(row)
            let sight = row.detectable == nil ? "too few pairs to detect a change" : "detectable \(cells.detectable)"
            return annotation(row.verdict, "\(cells.what): \(cells.change) (95 %: \(cells.interval)), \(sight)")
        }
        return (counted + gates).joined()
    }

    /// Returns an annotation, or an empty text if none is needed. Percent signs are escaped and line ends replaced,
    /// because they are part of the command syntax.
    private static func annotation(_ verdict: Verdict, _ text: String) -> String {
        let levels: [Verdict: String] = [.regressed: "error", .suspected: "warning", .inconclusive: "notice"]
        guard let level = levels[verdict] else { return "" }
        return "::\(level) title=Tidegauge: \(verdict.rawValue)::\(Escaped.visible(text).replacing("%", with: "%25"))\n"
    }

    private static func table(_ rows: [ComparedRow]) -> String {
        let lines = rows.map { row in
            let cells = ComparedCells(row)
            let remark = cells.remark.isEmpty ? "" : " (\(Escaped.markdown(cells.remark)))"
            return [cells.verdict, Escaped.markdown(cells.what) + remark] + cells.cells.dropFirst(2)
        }
        return Markdown.table(ComparedCells.titles, words: 2, lines)
    }
}
