// Findings against a baseline as text: for the terminal, summary.md and report.html. Pure.
import TidegaugeSpec

extension BaselineComparison {
    /// Maximum number of lines per kind on the terminal and in summary.md. Further ones are counted.
    private static let mostLines = 10

    private static let titles = ["verdict", "what", "baseline", "this run", "change"]

    private var date: String { runID.map { " (\($0))" } ?? "" }

    /// Summary sentence, and another one for what was not compared.
    private var sentences: [String] {
        if let obstacle { return ["not compared: \(obstacle)"] }
        let hint = worse.isEmpty ? "" : " (`tidegauge compare` tests it and names the function)"
        let clock =
            clockObstacle.map { "clocks and what depends on them not compared: \($0)" }
            ?? "\(slower.count) of \(clocks) clocks slower"
        let whole = "\(worse.count) of \(Humanised.count(counts, "count")) worse\(hint), \(clock)"
        return [whole]
            + (changed.isEmpty
                ? [] : ["not compared, because they have changed since: \(changed.joined(separator: ", "))"])
    }

    // MARK: On a terminal

    /// One line per figure that became worse, worst first, at most ten of each kind. Further ones are counted.
    public var details: [String] {
        Self.lines(worse, "worse than '\(name)'") + Self.lines(slower, "slower than '\(name)', as advice")
    }

    /// Summary in one or more lines.
    public var summary: [String] {
        let sentences = sentences
        return ["baseline '\(name)'\(date): \(sentences[0])"] + sentences.dropFirst()
    }

    private static func lines(_ changes: [Change], _ what: String) -> [String] {
        let rest = changes.count - mostLines
        return changes.prefix(mostLines).map { "\(what): \($0.text)" } + (rest > 0 ? ["\(what): and \(rest) more"] : [])
    }

    // MARK: On pages

    private var title: String { "Since baseline \(name)\(date)" }

    /// Like `sentences`, but begins with the good news if nothing is worse.
    private var verdicts: [String] {
        let isWell = worse.isEmpty && slower.isEmpty && counts + clocks > 0
        return (isWell ? ["nothing became worse: \(sentences[0])"] : [sentences[0]]) + sentences.dropFirst()
    }

    /// Markdown with counts before timed figures.
    var markdown: String {
        let verdicts = verdicts.map { Escaped.markdown($0) }.joined(separator: "; ")
        var text = "**\(Escaped.markdown(title))**: \(verdicts)\n\n"
        let shown = worse.prefix(Self.mostLines) + slower.prefix(Self.mostLines)
        guard !shown.isEmpty else { return text }
        let rows = shown.map { change in change.cells.map { Escaped.markdown($0) } }
        text += Markdown.table(Self.titles, words: 2, rows) + "\n"
        let rest = worse.count + slower.count - shown.count
        return text + (rest > 0 ? "and \(rest) more in \(FinalReports.htmlName)\n\n" : "")
    }

    /// Values for the page's template. The page lists the changes among its findings.
    var page: [String: Any] {
        ["title": Escaped.visible(title), "verdicts": verdicts.map { Escaped.visible($0) }]
    }
}

extension BaselineComparison.Change {
    private var unit: String { metric.unit }

    /// Relative change; nil if the baseline is not above 0.
    private var share: String? { then > 0 ? ComparedCells.share(now / then - 1) : nil }

    /// Text such as `… upkeep_instructions: 112k → 124k instructions/commit (+10.7 %)`.
    fileprivate var text: String {
        let values = "\(Humanised.text(then, unit: unit)) → \(Humanised.text(now, unit: unit))"
        return "\(what): \(values)\(metric.isTime ? "" : " \(unit)")\(share.map { " (\($0))" } ?? "")"
    }

    fileprivate var cells: [String] {
        [
            isCounted ? "worse" : "slower, as advice", what, Humanised.text(then, unit: unit),
            Humanised.text(now, unit: unit), share ?? "-",
        ]
    }
}
