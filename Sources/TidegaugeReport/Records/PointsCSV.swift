// points.csv: the figures of metrics.csv as a table for grouping and plotting. It has one line per trial and metric, a
// column per statistic, and one per swept key. Written at the end, because the columns depend on the whole run. Pure.
import TidegaugeSpec
import TidegaugeTrial

public enum PointsCSV {
    static let fileName = "points.csv"
    /// Fixed columns. The swept keys follow, sorted.
    static let columns =
        ["run_id", "commit", "scenario", "driver", "variant", "trial", "metric", "unit", "n", "censored"]
        + Statistic.allCases.map(\.rawValue) + ["flags"]

    private struct LineKey: Hashable {
        var trial: TrialKey
        var metric: Metric
    }

    /// Returns the text of a cell for a key and its value in a variant.
    public typealias Cell = (_ key: String, _ value: String) -> String

    /// Renders the table without figures over a sweep, which belong to no point.
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

    /// Values of a variant (`dataset.items=1000;writers.rate=200/s`) by key, formatted by `cell`.
    private static func place(_ variant: String, _ cell: Cell) -> [String: String] {
        let parts = variant.split(separator: ";").compactMap { part -> (String, String)? in
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return words.count == 2 ? (words[0], cell(words[0], words[1])) : nil
        }
        return Dictionary(parts, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter rows: rows of one trial and one metric; not empty.
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
