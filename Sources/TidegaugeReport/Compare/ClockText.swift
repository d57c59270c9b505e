// Summaries of the gates (figures by which commits are compared) that were measured in pairs: suspects, share of
// decided gates, and pairs still needed. Pure.
import TidegaugeCompare
import TidegaugeSpec
import TidegaugeStatistics

enum ClockText {
    /// Limitations of measured times, shown with their summary. `CountedText.blindness` is the same for counts.
    static let blindness =
        "clocks show waiting and caches, and also noise of the machine: changes below 'detectable' need counts"

    /// Longest time that more pairs are advised for: eight hours.
    private static let longestAdviceSeconds = 8 * 3_600.0

    /// Number of decided gates, and number of pairs of the same noise that would decide the others. For a comparison
    /// by counts only, the gates that were not measured.
    static func summary(_ judged: JudgedComparison) -> String {
        if judged.record.plan.isCountedOnly { return unmeasured(judged.unmeasured) }
        let open = zip(judged.engine.tracks, judged.gates).filter { !$1.isDecided }
        let count = judged.gates.count
        let decided = count - open.count
        var parts = ["\(decided) of \(gates(count)) decided by clocks (\(100 * decided / max(count, 1)) %)"]
        let known = open.compactMap { track, row in
            row.pairsToDecide.map { (pairs: $0 - row.pairs, seconds: Double($0 - row.pairs) * track.secondsPerPair) }
        }
        if !known.isEmpty {
            let (pairs, seconds) = known.reduce((0, 0.0)) { ($0.0 + $1.pairs, $0.1 + $1.seconds) }
            if seconds > Self.longestAdviceSeconds {
                parts.append("\(gates(known.count)) cannot be decided on this machine")
            } else {
                let more = "\(Humanised.count(pairs, "more pair")), about \(length(seconds))"
                parts.append("\(more), would decide \(gates(known.count))")
            }
        }
        let unknown = open.count - known.count
        if unknown > 0 { parts.append("\(gates(unknown)): too few pairs to estimate how long a verdict takes") }
        return (parts + [blindness]).joined(separator: "; ")
    }

    private static func unmeasured(_ titles: [String]) -> String {
        let names = titles.isEmpty ? "" : ": " + titles.joined(separator: ", ")
        return "not measured, because only counts were requested: \(gates(titles.count)) of clocks\(names)"
    }

    /// One line about a suspected gate: its change and why it is not confirmed.
    static func suspicion(_ row: ComparedRow) -> String {
        let cells = ComparedCells(row)
        let effect = "\(cells.change) (95 %: \(cells.interval)), pairs \(cells.pairs)"
        return "suspected: \(cells.what) \(effect): \(cells.remark)"
    }

    private static func gates(_ count: Int) -> String { Humanised.count(count, "gate") }

    private static func length(_ seconds: Double) -> String {
        if seconds < 90 { return "\(Int(nearest: seconds.rounded(.up))) s" }
        let hours = seconds / 3_600
        return hours < 1.5 ? "\(Int(nearest: seconds / 60)) min" : "\(Int(nearest: hours)) h"
    }
}

extension JudgedComparison {
    /// Gates that look worse but were not confirmed.
    var suspects: [ComparedRow] { gates.filter { $0.verdict == .suspected } }
}
