// Counted figures of a comparison as text: verdicts, changes and the functions that cause them. Pure.
import TidegaugeCompare
import TidegaugeSpec
import TidegaugeStatistics

enum CountedText {
    /// Limitations of counts, shown with their summary.
    static let blindness = "counts do not show waiting, contention and cache misses; the gates with clocks do"

    static let titles = ["verdict", "what", "base", "head", "change", "noise"]

    /// Summary of a comparison with counted figures.
    static func summary(_ rows: [CountedRow]) -> String {
        let noise = rows.compactMap(\.noise).max() ?? 0
        let counters = Set(rows.map(\.counter)).sorted().joined(separator: ", ")
        let changed = rows.count { $0.verdict != .unchanged }
        let changes = changed == 0 ? "all unchanged" : "\(changed) changed or not decided"
        return
            "\(rows.count) figures per commit counted by \(counters) (lower is better), \(changes); noise: two counts of "
            + "the base differ by \(percent(noise, signed: false)) at most; \(blindness)"
    }

    static func cells(_ row: CountedRow) -> [String] {
        [
            row.verdict.rawValue, "\(row.title) \(row.metric.rawValue)",
            Humanised.text(row.base, unit: row.metric.unit),
            Humanised.text(row.head, unit: row.metric.unit), percent(row.change), percent(row.noise, signed: false),
        ]
    }

    /// Describes a function's change: `TreeDifference.walk +12.26 %, 3100 → 3480 per commit (with what it calls 9000 →
    /// 9400)`.
    static func line(_ cause: CountedRow.Cause) -> String {
        let change = cause.base > 0 ? percent(cause.head / cause.base - 1) : "new"
        return "\(cause.function) \(change), \(whole(cause.base)) → \(whole(cause.head)) per commit (with what it "
            + "calls \(whole(cause.baseInclusive)) → \(whole(cause.headInclusive)))"
    }

    static func percent(_ share: Double?, signed: Bool = true) -> String {
        guard let share else { return "n/a" }
        let hundredths = (share * 10_000).rounded() / 100
        return (signed && hundredths > 0 ? "+" : "") + "\(hundredths) %"
    }

    private static func whole(_ instructions: Double) -> String { "\(Int(nearest: instructions))" }

    /// Describes a counted figure in one line: its values, its change, and the most likely cause if there is one.
    static func annotation(_ row: CountedRow) -> String {
        let cells = cells(row)
        let place = row.causes.first.map { "; first \(line($0))" } ?? ""
        return "\(cells[1]): \(cells[2]) → \(cells[3]), \(cells[4]), counted\(place)"
    }

    // MARK: Whole sections

    /// Returns lines for a terminal: changed counts and the functions that cause them.
    static func console(_ judged: JudgedComparison) -> [String] {
        let rows = judged.record.counted
        guard !rows.isEmpty else { return [] }
        var lines = ["", summary(rows)]
        for row in changed(rows) {
            let cells = cells(row)
            lines.append("  \(cells[0]): \(cells[1]): \(cells[2]) → \(cells[3]), \(cells[4]) (noise \(cells[5]))")
            lines += row.causes.map { "    \(line($0))" }
            if let file = row.flameGraph { lines.append("    flame graph: \(file)") }
        }
        return lines
    }

    static func markdown(_ judged: JudgedComparison) -> String {
        let rows = judged.record.counted
        guard !rows.isEmpty else { return "" }
        var text = "**Counted**: \(summary(rows))\n\n"
        let changed = changed(rows)
        if !changed.isEmpty { text += table(changed) + "\n" }
        for row in changed where !row.causes.isEmpty {
            let lines = row.causes.map { "- \(Escaped.markdown(line($0)))\n" }
            text += "Where \(Escaped.markdown(cells(row)[1])) went:\n\n" + lines.joined() + "\n"
        }
        let unchanged = rows.filter { $0.verdict == .unchanged }
        if !unchanged.isEmpty {
            text += Markdown.folded("Unchanged counts (\(unchanged.count))", table(unchanged))
        }
        return text
    }

    /// Figures that are not unchanged: regressions first, improvements last.
    private static func changed(_ rows: [CountedRow]) -> [CountedRow] {
        let ranks: [Verdict: Int] = [.regressed: 0, .suspected: 1, .inconclusive: 2, .improved: 4]
        return rows.filter { $0.verdict != .unchanged }.enumerated().sorted {
            (ranks[$0.element.verdict] ?? 3, $0.offset) < (ranks[$1.element.verdict] ?? 3, $1.offset)
        }.map(\.element)
    }

    private static func table(_ rows: [CountedRow]) -> String {
        Markdown.table(titles, words: 2, rows.map { row in cells(row).map { Escaped.markdown($0) } })
    }

    /// Values for the page's template.
    /// - Parameter tone: colour of a verdict.
    static func page(_ judged: JudgedComparison, tone: (Verdict) -> String) -> [[String: Any]] {
        changed(judged.record.counted).map { row in
            let cells = cells(row).map { Escaped.visible($0) }
            return [
                "tone": tone(row.verdict), "verdict": cells[0], "what": HTMLPage.breakable(self.cells(row)[1]),
                "figures": Array(cells.dropFirst(2)), "hasPaths": !row.paths.isEmpty,
                "causes": row.causes.map { Escaped.visible(line($0)) },
                "paths": row.paths.map { Escaped.visible($0) }, "flameGraph": row.flameGraph ?? "",
                "hasFlameGraph": row.flameGraph != nil,
            ]
        }
    }
}
