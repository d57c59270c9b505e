// The summary at the end of a run: a table of headline figures per scenario, then failures.
import TidegaugeSpec
import TidegaugeStatistics

/// Collects the headline rows of a run and prints the summary when it ends.
public final class ConsoleSummary: ReportFormat {
    private var rows: [RunRow] = []
    private let gates: [String: Metric]
    private let columns: Int?
    private let print: (String) -> Void

    /// - Parameters:
    ///   - earlier: rows of the earlier part of a resumed run.
    ///   - gates: the metric of each scenario by which commits are compared, which is its first column.
    ///   - columns: width of the terminal; nil: tables are not limited.
    ///   - print: receives the whole summary.
    public init(
        earlier: [RunRow] = [], gates: [String: Metric], columns: Int? = nil, print: @escaping (String) -> Void
    ) {
        (self.gates, self.columns, self.print) = (gates, columns, print)
        rows = earlier.filter(isShown)
    }

    public func add(_ rows: [RunRow]) throws { self.rows += rows.filter(isShown) }

    private func isShown(_ row: RunRow) -> Bool {
        row.variant == RunRow.overSweep || row.figure.metric == .trialOutcome
            || Self.ofPlays.contains(row.figure.metric)
            || Headline.columns(gate: gates[row.scenario]).contains { $0.shows(row.figure) }
    }

    public func end(_ run: ReportedRun) throws { print(Self.render(rows, gates: gates, columns: columns)) }

    private static let ofPlays = [Metric.interleavingTestTime, .hangDetectionTime]
    private static let indent = 2

    /// Returns the summary of `rows`, with scenarios in the order of the run.
    /// - Parameters:
    ///   - gates: the metric of each scenario by which commits are compared, which is its first column.
    ///   - columns: width of the terminal; nil: tables are not limited.
    public static func render(_ rows: [RunRow], gates: [String: Metric], columns: Int? = nil) -> String {
        var hasFigures = false
        let scenarios = Digest.inOrder(rows.map(\.scenario)).map { scenario in
            let table = Digest.table(scenario, rows, gate: gates[scenario], asRun: true)
            let cells = table.rows.map { [$0.driver, $0.variant] + $0.cells }
            let all = [["driver", "variant"] + table.titles] + cells
            hasFigures = hasFigures || !table.titles.isEmpty
            var lines = table.titles.isEmpty ? [] : AlignedTable(rows: all).lines(columns: columns.map { $0 - indent })
            lines += plays(rows.filter { $0.scenario == scenario })
            let overSweep = rows.filter { $0.scenario == scenario && $0.variant == RunRow.overSweep }
            lines += overSweep.filter { $0.figure.statistic != .count }.map(sweepLine)
            lines += table.notes.map { "! " + $0 }
            // Names may contain terminal control characters.
            return ([scenario] + lines.map { "  \($0)" }).map { Escaped.visible($0, keepingLines: true) + "\n" }
                .joined()
        }
        return (scenarios + (hasFigures ? [Direction.legend + "\n"] : [])).joined(separator: "\n")
    }

    /// Outcome of an interleaving test on each driver.
    private static func plays(_ rows: [RunRow]) -> [String] {
        let drivers = Digest.inOrder(rows.filter { ofPlays.contains($0.figure.metric) }.map(\.driver))
        let lines = drivers.map { driver in
            let own = rows.filter { $0.driver == driver }.map(\.figure)
            func ns(_ metric: Metric) -> Double? {
                median(own.filter { $0.metric == metric }.compactMap(\.value))
            }
            let failed = own.first { $0.metric == .trialOutcome && $0.value != 0 }
            let outcome: InterleavingTests.Outcome =
                if let failed {
                    .failed(failed.flags.map(\.text).joined(separator: ", "))
                } else if let time = ns(.interleavingTestTime) {
                    .completed(ns: time)
                } else {
                    .caught(ns: ns(.hangDetectionTime))
                }
            return [driver, InterleavingWords.cell(outcome)]
        }
        return lines.isEmpty ? [] : AlignedTable(rows: lines).lines()
    }

    /// A figure over the sweep, with its `Digest.place` if there is one.
    private static func sweepLine(_ row: RunRow) -> String {
        let figure = row.figure
        let name = figure.metric.rawValue + (figure.statistic == .value ? "" : " \(figure.statistic.rawValue)")
        let place = Digest.place(figure).joined(separator: " ")
        return "\(name)  \(row.driver)  \(Digest.cell([figure]))" + (place.isEmpty ? "" : "  (\(place))")
    }
}
