// points.csv: the figures of metrics.csv as a table to group and to plot, one line per trial and metric, with a column for each
// statistic and one for each key that any scenario of the run sweeps. Made at the end of a run, because its columns are what
// the whole run needs. Pure.
import TidegaugeSpec
import TidegaugeTrial

public enum PointsCSV {
    static let fileName = "points.csv"
    /// The keys of sweeps follow, sorted.
    static let columns =
        ["run_id", "commit", "scenario", "driver", "variant", "trial", "metric", "unit", "n", "censored"]
        + Statistic.allCases.map(\.rawValue) + ["flags"]

    private struct LineKey: Hashable {
        var trial: TrialKey
        var metric: Metric
    }

    /// Text of a cell: from the name of a key and its value in a variant.
    public typealias Cell = (_ key: String, _ value: String) -> String

    /// Figures over a sweep belong to no point, and are left to metrics.csv.
    static func render(_ rows: [RunRow], cell: Cell) -> String {
        let ofTrials = rows.filter { $0.variant != RunRow.overSweep }
        let places = Dictionary(
            ofTrials.map { ($0.variant, place($0.variant, cell)) }, uniquingKeysWith: { first, _ in first })
        let keys = Set(places.values.flatMap(\.keys)).sorted()
        let lines = ofTrials.map { LineKey(trial: TrialKey($0), metric: $0.figure.metric) }
        let groups = Dictionary(grouping: zip(lines, ofTrials), by: \.0)
        return CSV.line(columns + keys)
            + Digest.inOrder(lines).map { line in
                let place = places[line.trial.variant, default: [:]]
                return CSV.line(figures(groups[line, default: []].map(\.1)) + keys.map { place[$0, default: ""] })
            }.joined()
    }

    /// `dataset.items=1000;writers.rate=200/s` by key, as numbers where they are.
    private static func place(_ variant: String, _ cell: Cell) -> [String: String] {
        let parts = variant.split(separator: ";").compactMap { part -> (String, String)? in
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return words.count == 2 ? (words[0], cell(words[0], words[1])) : nil
        }
        return Dictionary(parts, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter rows: of one trial and one metric; not empty.
    private static func figures(_ rows: [RunRow]) -> [String] {
        let row = rows[0]
        let figure = row.figure
        let unit = figure.metric.unit
        let values = Statistic.allCases.map { statistic in
            MetricsCSV.value(rows.first { $0.figure.statistic == statistic }?.figure.value, unit: unit)
        }
        let flags = Digest.inOrder(rows.flatMap(\.figure.flags).map(\.text)).joined(separator: ";")
        return [
            row.runID, row.commit, row.scenario, row.driver, row.variant, "\(row.trial)", figure.metric.rawValue, unit,
            "\(figure.n)", "\(figure.censored)",
        ] + values + [flags]
    }
}
