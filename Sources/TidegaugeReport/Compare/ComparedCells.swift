// Texts of a compared row, shared by the terminal, Markdown and the page. Pure.
import Foundation
import TidegaugeCompare
import TidegaugeSpec

struct ComparedCells {
    let row: ComparedRow

    init(_ row: ComparedRow) { self.row = row }

    static let titles = ["verdict", "what", "base", "head", "change", "95 % interval", "detectable", "pairs"]

    var cells: [String] { [verdict, what, value(row.base), value(row.head), change, interval, detectable, pairs] }

    var verdict: String { row.verdict.rawValue }

    var what: String {
        let place = [row.scenario, row.driver].joined(separator: " ")
        let variant =
            row.variant.isEmpty ? "" : row.variant == ComparedRow.overSweep ? " all points" : " " + row.variant
        return Escaped.visible("\(place)\(variant) \(row.name)")
    }

    func value(_ value: Double?) -> String { value.map { Humanised.text($0, unit: row.unit) } ?? "-" }

    var change: String { moved(row.change) }

    var interval: String {
        guard row.low != nil || row.high != nil else { return "-" }
        return "\(moved(row.low)) … \(moved(row.high))"
    }

    /// Detectable change; `-` if the pairs are too few to detect any.
    var detectable: String { row.detectable.map { moved($0) } ?? "-" }

    /// Formats a change as a share of the base, or in the figure's unit if there is no ratio: `+312 ns`.
    private func moved(_ value: Double?) -> String {
        guard row.isDifference, let value, value.isFinite else { return Self.share(value) }
        return (value < 0 ? "" : "+") + Humanised.text(value, unit: row.unit)
    }

    var pairs: String {
        guard !row.isDecided, let more = row.pairsToDecide else { return "\(row.pairs)" }
        return "\(row.pairs) of \(more)"
    }

    /// Additional remarks; empty for most rows.
    var remark: String {
        var remarks = row.remark.isEmpty ? [] : [row.remark]
        if let merged = row.merged {
            remarks.append(
                "all samples together: \(Self.share(merged.change)) (\(Self.share(merged.low)) … \(Self.share(merged.high)))"
            )
        }
        return remarks.joined(separator: "; ")
    }

    /// Formats a change to at most two decimals: `+4.8 %`, `-0.31 %`.
    static func share(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "n/a" }
        let percent = value * 100
        let digits = abs(percent) < 1 ? 2 : abs(percent) < 100 ? 1 : 0
        return String(format: "%+.\(digits)f %%", percent == 0 ? 0 : percent)
    }

    static func aligned(_ rows: [ComparedRow], columns: Int?) -> [String] {
        AlignedTable(rows: [titles] + rows.map { ComparedCells($0).cells }).lines(columns: columns)
    }
}

/// A comparison as text for a terminal.
public enum ComparisonConsole {
    /// - Parameter columns: width of the terminal; nil: tables are not limited.
    public static func render(_ judged: JudgedComparison, columns: Int? = nil) -> String {
        let plan = judged.record.plan
        var lines = ["\(plan.base.name) (\(plan.base.label)) → \(plan.head.name) (\(plan.head.label))"]
        if plan.head.isDirty { lines.append("the head is the working tree, including uncommitted changes") }
        lines += judged.suspects.map { "! \(ClockText.suspicion($0))" }
        lines += CountedText.console(judged)
        lines += ["", ClockText.summary(judged)]
        if !judged.gates.isEmpty { lines += ComparedCells.aligned(judged.gates, columns: columns) }
        let remarks = judged.gates.filter { !$0.remark.isEmpty }
        lines += remarks.map { "! \($0.scenario) \($0.driver): \($0.remark)" }
        lines += judged.failures.map { "! \($0.subject): \($0.side) pair \($0.pair): \($0.text(notes: 2))" }
        if !judged.news.isEmpty {
            lines += ["", "also moved, as advice (of these, 5 % are expected to be chance):"]
            lines += ComparedCells.aligned(judged.news.filter { $0.change != nil }, columns: columns)
        }
        let oneSided = judged.news.filter { $0.change == nil }
        lines += oneSided.map { "\($0.verdict.rawValue): \(ComparedCells($0).what)" }
        lines += (plan.oneSided + judged.record.uncounted).map { "not compared: \($0.what): \($0.why)" }
        if !judged.voids.isEmpty {
            let reasons = Dictionary(grouping: judged.voids, by: \.reason).sorted { $0.key < $1.key }
            lines.append(
                "void pairs, run again: " + reasons.map { "\($0.value.count) \($0.key)" }.joined(separator: ", "))
        }
        if !judged.record.isFinished {
            let pairs = judged.engine.tracks.reduce(0) { $0 + $1.attempts }
            lines += [
                "",
                "! interrupted after \(Humanised.count(pairs, "pair")): this is what they say so far, and no verdict; --resume "
                    + "goes on",
            ]
        }
        return (lines + ["", verdict(judged)]).map { Escaped.visible($0) }.joined(separator: "\n") + "\n"
    }

    /// Returns the overall result in one sentence.
    static func verdict(_ judged: JudgedComparison) -> String {
        func names(_ verdict: Verdict) -> String {
            let counted = judged.record.counted.filter { $0.verdict == verdict }
                .map { "\($0.title) \($0.metric.rawValue)" }
            let gates = judged.gates.filter { $0.verdict == verdict }.map { "\($0.scenario) \($0.driver)" }
            let uncounted = verdict == .inconclusive ? judged.uncounted.map { "\($0), not counted" } : []
            return (counted + gates + uncounted).joined(separator: ", ")
        }
        if judged.gates.isEmpty, judged.record.counted.isEmpty { return "inconclusive: nothing could be compared" }
        switch judged.outcome.word {
        case .failing: return "trials fail: trials of the head do not complete, and those of the base do"
        case .regressed: return "regressed: \(names(.regressed))"
        case .inconclusive:
            let suspects = judged.suspects.map {
                "\($0.scenario) \($0.driver) (\(ComparedCells($0).change))"
            }
            return suspects.isEmpty
                ? "inconclusive: no regression found, but not decided: " + names(.inconclusive)
                : (["inconclusive: suspected but not confirmed: " + suspects.joined(separator: ", ")]
                    + (names(.inconclusive).isEmpty ? [] : ["not decided: " + names(.inconclusive)]))
                    .joined(separator: "; ")
        case .pass: return judged.record.plan.isCountedOnly ? "no regression in what was counted" : "no regression"
        }
    }
}
