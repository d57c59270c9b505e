// metrics.csv: one figure per line, tidy. Grows after each trial.
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

    /// What a cell without a value holds; runs of earlier versions have another word there.
    static let missing = ""
    private static let formerlyMissing = "n/a"

    private var file: AppendedFile?

    public init() {}

    /// Opens the file, which may hold rows already.
    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: CSV.line(Self.columns))
    }

    public func add(_ rows: [RunRow]) throws {
        guard !rows.isEmpty else { return }
        try file?.append(rows.map(Self.line).joined())
    }

    /// One row with its line end.
    public static func line(_ row: RunRow) -> String {
        let figure = row.figure
        return CSV.line([
            "\(RunRow.schemaVersion)", row.runID, row.commit, row.dirty ? "true" : "false", row.scenario,
            row.scenarioSHA, row.driver, row.variant, "\(row.trial)", "\(row.seed)", figure.metric.rawValue,
            figure.statistic.rawValue, value(figure.value, unit: figure.metric.unit), figure.metric.unit,
            "\(figure.n)", "\(figure.censored)", figure.flags.map(\.text).joined(separator: ";"),
        ])
    }

    /// Whole numbers without a point (a time in ns always is one), others as short as they read back exactly, empty
    /// where there is none: what every reader of tables takes for a missing value.
    static func value(_ value: Double?, unit: String) -> String {
        guard let value, value.isFinite else { return missing }
        let shown = unit == "ns" ? value.rounded() : value
        return Int64(exactly: shown).map { "\($0)" } ?? "\(shown)"
    }

    /// The row of a record, or nil where it is none of this version.
    static func row(_ record: [String]) -> RunRow? {
        guard record.count == columns.count, record[0] == "\(RunRow.schemaVersion)", let trial = Int(record[8]),
            let seed = UInt64(record[9]), let metric = Metric(rawValue: record[10]),
            let statistic = Statistic(rawValue: record[11]), let n = Int(record[14]), let censored = Int(record[15])
        else { return nil }
        let value = Double(record[12])
        if value == nil, record[12] != missing, record[12] != formerlyMissing { return nil }
        if let value, !Figure.isPlausible(value) { return nil }
        let flags = record[16].split(separator: ";").map { FigureFlag(rawValue: String($0)) }
        return RunRow(
            runID: record[1], commit: record[2], dirty: record[3] == "true", scenario: record[4],
            scenarioSHA: record[5], driver: record[6], variant: record[7], trial: trial, seed: seed,
            figure: Figure(metric, statistic, value, n: n, censored: censored, flags: flags))
    }
}
