// What a person sees at the end of a run: per scenario one small table of headline figures, then what went wrong. A
// digest of metrics.csv, never more than is there.

/// Collects the headline rows of a run and prints the summary when it ends.
public final class ConsoleSummary: ReportFormat {
    private var rows: [RunRow] = []
    private let print: (String) -> Void

    /// - Parameters:
    ///   - earlier: Rows of the part of the run that is gone on with.
    ///   - print: Takes the whole summary, which ends in a line end.
    public init(earlier: [RunRow] = [], print: @escaping (String) -> Void) {
        self.print = print
        rows = earlier.filter(Self.isShown)
    }

    public func add(_ rows: [RunRow]) throws { self.rows += rows.filter(Self.isShown) }

    private static func isShown(_ row: RunRow) -> Bool {
        row.variant == RunRow.overSweep || row.figure.metric == .trialOutcome
            || Headline.all.contains { $0.shows(row.figure) }
    }

    public func end(_ run: ReportedRun) throws { print(Self.render(rows)) }

    /// The summary of `rows`, scenarios in the order they were run.
    public static func render(_ rows: [RunRow]) -> String {
        Digest.inOrder(rows.map(\.scenario)).map { scenario in
            let table = Digest.table(scenario, rows, asRun: true)
            let cells = table.rows.map { [$0.driver, $0.variant] + $0.cells }
            var lines = table.titles.isEmpty ? [] : Digest.aligned([["driver", "variant"] + table.titles] + cells)
            let overSweep = rows.filter { $0.scenario == scenario && $0.variant == RunRow.overSweep }
            lines += overSweep.filter { $0.figure.statistic != .count }.map(sweepLine)
            lines += table.notes.map { "! " + $0 }
            return scenario + "\n" + lines.map { "  \($0)\n" }.joined()
        }.joined(separator: "\n")
    }

    /// One figure over the sweep, with what it runs over where that has to be said.
    private static func sweepLine(_ row: RunRow) -> String {
        let figure = row.figure
        let name = figure.metric.rawValue + (figure.statistic == .value ? "" : " \(figure.statistic.rawValue)")
        let place = Digest.place(figure).joined(separator: " ")
        return "\(name)  \(row.driver)  \(Digest.cell([figure]))" + (place.isEmpty ? "" : "  (\(place))")
    }
}
