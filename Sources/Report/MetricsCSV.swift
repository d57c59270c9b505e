// metrics.csv: one figure per line, tidy, RFC 4180 (but for line ends: `\n`, as every tool on Linux writes and reads
// them). Grows by whole lines, each batch on disk before the next trial starts.
import Foundation
import Measure
import Scenario

/// Appends rows to `metrics.csv` in the run's folder.
public final class MetricsCSV: ReportFormat {
    public static let fileName = "metrics.csv"
    public static let columns = [
        "schema_version", "run_id", "commit", "dirty", "scenario", "scenario_sha", "driver", "variant", "trial", "seed",
        "metric", "statistic", "value", "unit", "n", "censored", "flags",
    ]

    private var path = ""
    private var file: Int32 = -1

    public init() {}

    deinit { if file >= 0 { close(file) } }

    /// Opens the file, which may hold rows already (a resumed run): a line that a killed run left half is cut off.
    public func begin(_ run: ReportedRun) throws {
        path = run.directory + "/" + Self.fileName
        file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw ReportError("open the file", path, errno: errno) }
        let existing = try Data(contentsOf: URL(fileURLWithPath: path))
        let wholeLines = existing.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if wholeLines < existing.count {
            guard ftruncate(file, off_t(wholeLines)) == 0 else {
                throw ReportError("cut off a half line", path, errno: errno)
            }
        }
        if wholeLines == 0 { try append(Self.columns.joined(separator: ",") + "\n") }
    }

    public func add(_ rows: [RunRow]) throws {
        guard !rows.isEmpty else { return }
        try append(rows.map(Self.line).joined())
    }

    public func end(_ run: ReportedRun) throws {}

    /// One row with its line end.
    public static func line(_ row: RunRow) -> String {
        let figure = row.figure
        let fields = [
            "\(RunRow.schemaVersion)", row.runID, row.commit, row.dirty ? "true" : "false", row.scenario,
            row.scenarioSHA, row.driver, row.variant, "\(row.trial)", "\(row.seed)", figure.metric.rawValue,
            figure.statistic.rawValue, value(figure), figure.metric.unit, "\(figure.n)", "\(figure.censored)",
            figure.flags.joined(separator: ";"),
        ]
        return fields.map(quoted).joined(separator: ",") + "\n"
    }

    /// Whole numbers without a point (a time in ns always is one), others as short as they read back exactly, `n/a`
    /// where there is none.
    static func value(_ figure: Figure) -> String {
        guard let value = figure.value, value.isFinite else { return "n/a" }
        let shown = figure.metric.unit == "ns" ? value.rounded() : value
        return Int64(exactly: shown).map { "\($0)" } ?? "\(shown)"
    }

    /// RFC 4180: quotes around fields that need them, quotes within doubled.
    static func quoted(_ field: String) -> String {
        let needsQuotes = field.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }
        return needsQuotes ? "\"" + field.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : field
    }

    private func append(_ text: String) throws { try ReportFile.write(text.utf8, to: file, path: path) }
}
