// What became worse since a baseline, in words: at the end of a run on a terminal, in summary.md and on report.html. Pure.
import TidegaugeSpec

extension BaselineComparison {
    /// Lines of each kind where room is short; the rest is counted. A page has room.
    private static let mostLines = 10

    private static let titles = ["verdict", "what", "baseline", "this run", "change"]

    private var date: String { runID.map { " (\($0))" } ?? "" }

    /// The whole in a sentence, and in another what was left out.
    private var sentences: [String] {
        if let obstacle { return ["not compared: \(obstacle)"] }
        let hint = worse.isEmpty ? "" : " (`tidegauge compare` says whether, and which function)"
        let clock =
            clockObstacle.map { "clocks, and what goes by them, not compared: \($0)" }
            ?? "\(slower.count) of \(clocks) clocks slower"
        let whole = "\(worse.count) of \(Humanised.count(counts, "count")) worse\(hint), \(clock)"
        return [whole]
            + (changed.isEmpty ? [] : ["not compared, as they were changed since: \(changed.joined(separator: ", "))"])
    }

    // MARK: On a terminal

    /// A line for each figure that became worse, the worst first.
    public var details: [String] {
        Self.lines(worse, "worse than '\(name)'") + Self.lines(slower, "slower than '\(name)', as advice")
    }

    /// The whole in a line or a few.
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

    /// As `sentences`; where nothing is worse, the first begins with that.
    private var verdicts: [String] {
        let isWell = worse.isEmpty && slower.isEmpty && counts + clocks > 0
        return (isWell ? ["nothing became worse: \(sentences[0])"] : [sentences[0]]) + sentences.dropFirst()
    }

    /// What counts say stands before what clocks say.
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

    /// For the page's template, which has the changes themselves among what is broken or slower.
    var page: [String: Any] {
        ["title": Escaped.visible(title), "verdicts": verdicts.map { Escaped.visible($0) }]
    }
}

extension BaselineComparison.Change {
    private var unit: String { metric.unit }

    /// nil where there is nothing to be a share of.
    private var share: String? { then > 0 ? ComparedCells.share(now / then - 1) : nil }

    /// `… upkeep_instructions: 112k → 124k instructions/commit (+10.7 %)`.
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
