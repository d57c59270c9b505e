// Writes a comparison's folder: journal, pairs and flame graphs during the comparison, pages and tables at its end or
// again later from the folder. Used by one thread.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure

public final class ComparisonReport {
    public static let htmlName = "compare.html"
    public static let summaryName = "summary.md"

    public let directory: String
    private let journal: AppendedFile
    private let pairs: AppendedFile
    private let plan: ComparisonPlan

    /// Creates `directory`, or continues in it.
    public init(_ directory: String, _ plan: ComparisonPlan, _ environment: EnvironmentReport) throws {
        self.directory = directory
        self.plan = plan
        try ReportFolder.make(directory)
        try ReportFile.replace("\(directory)/\(EnvironmentJSON.fileName)", with: environment.json())
        journal = try AppendedFile(
            "\(directory)/\(ComparisonRecord.journalName)", header: try ComparisonLine.plan(plan).text())
        pairs = try AppendedFile("\(directory)/\(PairsCSV.fileName)", header: CSV.line(PairsCSV.columns))
    }

    /// Appends a pair. It is on disk on return.
    public func add(_ record: PairRecord) throws {
        try pairs.append(PairsCSV.lines(record, plan))
        try journal.append(ComparisonLine.pair(record).text())
    }

    /// Writes the files that the counted figures of a point name, then appends the figures. These are on disk on
    /// return.
    public func add(_ rows: [CountedRow], files: [String: String]) throws {
        for (name, text) in files { try ReportFile.replace("\(directory)/\(name)", with: text.utf8) }
        try journal.append(ComparisonLine.counted(rows).text())
    }

    /// Appends the points that could not be counted, after counting.
    public func add(uncounted: [OneSided]) throws {
        try journal.append(ComparisonLine.uncounted(uncounted).text())
    }

    /// - Parameter exitCode: exit code of the process; 130 for an interrupted comparison, which can be resumed.
    public func end(_ judged: JudgedComparison, exitCode: Int32) throws {
        try journal.append(ComparisonLine.ended(.init(exitCode: exitCode)).text())
        try ReportFile.replace("\(directory)/\(EnvironmentJSON.fileName)", with: judged.record.environment.json())
        try Self.write(judged, into: directory)
    }

    /// Makes pages and tables again, from the journal and the environment.
    public static func write(into directory: String) throws {
        try write(JudgedComparison(directory), into: directory)
    }

    private static func write(_ judged: JudgedComparison, into directory: String) throws {
        for (name, text) in [
            ("effects.csv", EffectsCSV.render(judged)), ("compare.json", try ComparisonJSON.render(judged)),
            (summaryName, ComparisonMarkdown.render(judged)),
            ("annotations.txt", ComparisonMarkdown.annotations(judged)),
            (TrackerJSON.actionBenchmarkName, try TrackerJSON.actionBenchmark(judged)),
            (TrackerJSON.bencherName, try TrackerJSON.bencher(judged)),
            (htmlName, try ComparisonHTML.render(judged)),
        ] {
            try ReportFile.replace("\(directory)/\(name)", with: text.utf8)
        }
    }
}
