// Formats that need the whole run: written at its end, and again by `tidegauge report` with the same result.
import Foundation

/// Writes `report.html`, `report.json`, `junit.xml`, `summary.md`, `points.csv` and the files for trackers.
public final class FinalReports: ReportFormat {
    public static let htmlName = "report.html"
    public static let jsonName = "report.json"
    public static let junitName = "junit.xml"
    public static let markdownName = "summary.md"

    /// Answers to print after the files are written, one per line.
    public private(set) var lastLines: [String] = []

    private let cell: PointsCSV.Cell

    /// - Parameter cell: formats a value of a variant for points.csv.
    public init(cell: @escaping PointsCSV.Cell) { self.cell = cell }

    public func end(_ run: ReportedRun) throws { try write(into: run.directory) }

    /// Rewrites the files from the other files in `directory`.
    /// - Throws: `DamagedReport`, and errors of encoding and writing.
    public func write(into directory: String) throws {
        let record = try RunRecord.load(directory)
        lastLines = AnswersText.console(record)
        for (name, text) in [
            (Self.jsonName, try ReportJSON.render(record)), (Self.junitName, JUnitXML.render(record)),
            (Self.markdownName, MarkdownSummary.render(record)),
            (PointsCSV.fileName, PointsCSV.render(record.rows, cell: cell)),
            (TrackerJSON.actionBenchmarkName, try TrackerJSON.actionBenchmark(record)),
            (TrackerJSON.bencherName, try TrackerJSON.bencher(record)),
            (Self.htmlName, try HTMLReport.render(record)),
        ] { try ReportFile.replace("\(directory)/\(name)", with: text.utf8) }
    }
}
