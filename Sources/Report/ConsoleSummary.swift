// What a person sees at the end of a run: per scenario one small table of headline figures, then what went wrong. A
// digest of metrics.csv, never more than is there.
import Foundation
import Measure
import Scenario
import Statistics

/// Collects the headline rows of a run and prints the summary when it ends.
public final class ConsoleSummary: ReportFormat {
    private var rows: [RunRow] = []
    private let print: (String) -> Void

    /// - Parameter print: Takes the whole summary, which ends in a line end.
    public init(print: @escaping (String) -> Void) { self.print = print }

    public func begin(_ run: ReportedRun) throws {}

    public func add(_ rows: [RunRow]) throws {
        self.rows += rows.filter { row in
            row.variant == RunRow.overSweep || row.figure.metric == .trialOutcome
                || Headline.all.contains { $0.shows(row.figure) }
        }
    }

    public func end(_ run: ReportedRun) throws { print(Self.render(rows)) }

    /// The summary of `rows`, scenarios in the order they were run.
    public static func render(_ rows: [RunRow]) -> String {
        inOrder(rows.map(\.scenario)).map { scenario in
            scenarioText(scenario, rows.filter { $0.scenario == scenario })
        }.joined(separator: "\n")
    }
}

/// One column of the table.
private struct Headline {
    var metric: Metric
    var statistic: Statistic
    var title: String

    func shows(_ figure: Figure) -> Bool { figure.metric == metric && figure.statistic == statistic }

    static let all = [
        Headline(metric: .writeServiceTime, statistic: .p50, title: "write p50"),
        Headline(metric: .deliveryLatency, statistic: .p50, title: "delivery p50"),
        Headline(metric: .endToEndLatency, statistic: .p50, title: "end-to-end p50"),
        Headline(metric: .endToEndLatency, statistic: .p99, title: "p99"),
        Headline(metric: .staleness, statistic: .p99, title: "staleness p99"),
        Headline(metric: .coalescingRatio, statistic: .value, title: "commits/callback"),
        Headline(metric: .upkeepCost, statistic: .value, title: "upkeep/commit"),
        Headline(metric: .harnessCost, statistic: .value, title: "harness/commit"),
        Headline(metric: .missedFinal, statistic: .value, title: "missed"),
    ]
}

extension ConsoleSummary {
    /// The rows of one driver at one point of the sweep, over all trials.
    private struct Point: Hashable {
        var driver: String
        var variant: String
    }

    private static func scenarioText(_ scenario: String, _ rows: [RunRow]) -> String {
        let perTrial = rows.filter { $0.variant != RunRow.overSweep }
        let points = inOrder(perTrial.map { Point(driver: $0.driver, variant: $0.variant) })
        let headlines = Headline.all.filter { headline in perTrial.contains { headline.shows($0.figure) } }
        var table = [["driver", "variant"] + headlines.map(\.title)]
        for point in points {
            let own = perTrial.filter { $0.driver == point.driver && $0.variant == point.variant }
            table.append(
                [point.driver, point.variant.isEmpty ? "-" : point.variant]
                    + headlines.map { headline in cell(own.map(\.figure).filter(headline.shows)) })
        }
        var lines = [scenario]
        if !headlines.isEmpty { lines += aligned(table) }
        for row in rows where row.variant == RunRow.overSweep && row.figure.statistic != .count {
            lines.append(sweepLine(row))
        }
        lines += points.flatMap { point in
            notes(point, perTrial.filter { $0.driver == point.driver && $0.variant == point.variant })
        }
        return lines[0] + "\n" + lines.dropFirst().map { "  \($0)\n" }.joined()
    }

    /// One figure over the sweep, with what it runs over where that has to be said.
    private static func sweepLine(_ row: RunRow) -> String {
        let figure = row.figure
        let name = figure.metric.rawValue + (figure.statistic == .value ? "" : " \(figure.statistic.rawValue)")
        let place = figure.flags.filter { $0.hasPrefix("over:") || $0.hasPrefix("at:") }
            .map { $0.replacingOccurrences(of: ":", with: " ") }.joined(separator: " ")
        return "\(name)  \(row.driver)  \(cell([figure]))" + (place.isEmpty ? "" : "  (\(place))")
    }

    /// The median over trials; `≥` where any trial knows only a bound, `~` where any is at the floor of what can be
    /// measured.
    private static func cell(_ figures: [Figure]) -> String {
        guard let unit = figures.first?.metric.unit else { return "-" }
        let text = Humanised.text(median(figures.compactMap(\.value)), unit: unit)
        guard text != "n/a" else { return text }
        let flags = Set(figures.flatMap(\.flags))
        return (flags.contains("at_least") ? "≥" : flags.contains("at_floor") ? "~" : "") + text
    }

    /// One line per way in which trials of a point did not end well or were not steady.
    private static func notes(_ point: Point, _ rows: [RunRow]) -> [String] {
        let outcomes = rows.map(\.figure).filter { $0.metric == .trialOutcome }
        let place = [point.driver, point.variant].filter { !$0.isEmpty }.joined(separator: " ")
        var notes: [String] = []
        let failed = outcomes.filter { $0.value != 0 }
        for fate in inOrder(failed.map { $0.flags.joined(separator: ", ") }) {
            let count = failed.filter { $0.flags.joined(separator: ", ") == fate }.count
            notes.append("! \(place): \(count) of \(outcomes.count) trials: \(fate)")
        }
        if rows.contains(where: { $0.figure.flags.contains("not_steady") }) {
            notes.append("! \(place): not_steady: the figures still drifted within the window")
        }
        return notes
    }

    /// Columns of equal width: the first two to the left, figures to the right.
    private static func aligned(_ table: [[String]]) -> [String] {
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { row in
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return column < 2 ? text + padding : padding + text
            }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    private static func inOrder<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }
}
