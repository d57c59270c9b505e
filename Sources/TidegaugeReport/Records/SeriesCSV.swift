// series.csv: figures per interval of 250 ms, by time from the start of the measured window. Appended after each trial.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

/// Appends to `series.csv` in the run's folder.
public final class SeriesCSV: ReportFormat {
    public static let fileName = "series.csv"
    public static let columns = [
        "run_id", "scenario", "driver", "variant", "trial", "t_ns", "metric", "statistic", "value", "unit",
    ]

    private var file: AppendedFile?

    public init() {}

    public func begin(_ run: ReportedRun) throws {
        file = try AppendedFile(run.directory + "/" + Self.fileName, header: CSV.line(Self.columns))
    }

    public func add(_ recordings: TrialRecordings, of trial: TrialKey, in run: ReportedRun) throws {
        let text = Self.lines(recordings.series, of: trial, runID: run.runID)
        if !text.isEmpty { try file?.append(text) }
    }

    /// Returns the lines of the series. Intervals without a value have no line.
    static func lines(_ series: [SeriesRecord], of trial: TrialKey, runID: String) -> String {
        series.map { series in
            series.values.enumerated().map { index, value -> String in
                guard let value else { return "" }
                let unit = series.metric.unit
                return CSV.line([
                    runID, trial.scenario, trial.driver, trial.variant, "\(trial.trial)",
                    "\(Int(nearest: Double(index) * Double(series.intervalNs)))", series.metric.rawValue,
                    series.statistic.rawValue,
                    MetricsCSV.value((value * 1e3).rounded() / 1e3, unit: unit), unit,
                ])
            }.joined()
        }.joined()
    }

    /// A parsed line.
    struct Point: Sendable, Equatable {
        var trial: TrialKey
        var timeNs: Int64
        var metric: Metric
        var statistic: Statistic
        var value: Double
    }

    static func point(_ record: [String]) -> Point? {
        guard record.count == columns.count, let trial = Int(record[4]), let timeNs = Int64(record[5]),
            let metric = Metric(recorded: record[6]), let statistic = Statistic(rawValue: record[7]),
            let value = Double(record[8]), Figure.isPlausible(value)
        else { return nil }
        return Point(
            trial: TrialKey(
                scenario: record[1], driver: record[2], variant: RenamedWords.variant(record[3]), trial: trial),
            timeNs: timeNs, metric: metric, statistic: statistic, value: value)
    }
}
