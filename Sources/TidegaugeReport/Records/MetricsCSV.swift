// metrics.csv: one figure per line. Appended after each trial.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec

/// Appends rows to `metrics.csv` in the run's folder.
public final class MetricsCSV: ReportFormat {
    public static let fileName = "metrics.csv"
    public static let columns = [
        "schema_version", "run_id", "commit", "dirty", "scenario", "scenario_sha", "driver", "variant", "trial", "seed",
        "metric", "statistic", "value", "unit", "n", "censored", "flags",
    ]

    /// Text of a cell without a value. Older versions wrote `formerlyMissing`.
    static let missing = ""
    private static let formerlyMissing = "n/a"

    private var file: AppendedFile?

    public init() {}

    /// Opens the file, which may already hold rows.
    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: CSV.line(Self.columns))
    }

    public func add(_ rows: [RunRow]) throws {
        guard !rows.isEmpty else { return }
        try file?.append(rows.map(Self.line).joined())
    }

    /// Returns one row with its line end.
    public static func line(_ row: RunRow) -> String {
        let figure = row.figure
        return CSV.line([
            "\(RunRow.schemaVersion)", row.runID, row.commit, row.dirty ? "true" : "false", row.scenario,
            row.scenarioSHA, row.driver, row.variant, "\(row.trial)", "\(row.seed)", figure.metric.rawValue,
            figure.statistic.rawValue, value(figure.value, unit: figure.metric.unit), figure.metric.unit,
            "\(figure.n)", "\(figure.censored)", figure.flags.map(\.text).joined(separator: ";"),
        ])
    }

    /// Formats a value: integers without a decimal point (values in ns are rounded to integers), others in the shortest
    /// exact form. Empty without a value, which readers of tables treat as missing.
    static func value(_ value: Double?, unit: String) -> String {
        guard let value, value.isFinite else { return missing }
        let shown = unit == "ns" ? value.rounded() : value
        return Int64(exactly: shown).map { "\($0)" } ?? "\(shown)"
    }

    /// Parses a record. Returns nil if it is malformed or of another version, or its value is not plausible.
    static func row(_ record: [String]) -> RunRow? {
        guard record.count == columns.count, record[0] == "\(RunRow.schemaVersion)", let trial = Int(record[8]),
            let seed = UInt64(record[9]), let metric = Metric(recorded: record[10]),
            let statistic = Statistic(rawValue: record[11]), let n = Int(record[14]), let censored = Int(record[15])
        else { return nil }
        let value = Double(record[12])
        if value == nil, record[12] != missing, record[12] != formerlyMissing { return nil }
        if let value, !Figure.isPlausible(value) { return nil }
        let flags = record[16].split(separator: ";").map { FigureFlag(rawValue: String($0)) }
        return RunRow(
            runID: record[1], commit: record[2], dirty: record[3] == "true", scenario: record[4],
            scenarioSHA: record[5], driver: record[6], variant: RenamedWords.variant(record[7]), trial: trial,
            seed: seed,
            figure: Figure(metric, statistic, value, n: n, censored: censored, flags: flags))
    }
}
