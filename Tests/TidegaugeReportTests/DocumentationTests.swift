import Foundation
import Testing
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("Docs of reports and comparisons")
struct DocumentationTests {
    private func document(_ name: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Docs/\(name).md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test("Every column has a line", arguments: MetricsCSV.columns)
    func columns(column: String) throws {
        #expect(try document("report").contains("\n| `\(column)` | "))
    }

    @Test("Every column of series.csv is named", arguments: SeriesCSV.columns)
    func seriesColumns(column: String) throws {
        let section = try #require(try document("report").components(separatedBy: "## series.csv").last)
        #expect(section.components(separatedBy: "\n## ")[0].contains("`\(column)`"))
    }

    @Test("Every column of points.csv is named", arguments: PointsCSV.columns)
    func pointsColumns(column: String) throws {
        let section = try #require(try document("report").components(separatedBy: "## points.csv").last)
        #expect(section.components(separatedBy: "\n## ")[0].contains("`\(column)`"))
    }

    @Test(
        "Every file has a line",
        arguments: [
            MetricsCSV.fileName, SeriesCSV.fileName, EnvironmentJSON.fileName, Journal.fileName, ChromeTrace.fileName,
            "\(HistogramLogs.folderName)/*.hlog", FinalReports.htmlName, FinalReports.jsonName, FinalReports.junitName,
            FinalReports.markdownName, PointsCSV.fileName, TrackerJSON.actionBenchmarkName, TrackerJSON.bencherName,
        ])
    func files(name: String) throws {
        #expect(try document("report").contains("\n| `\(name)` | "))
    }

    @Test("Every column of a comparison is named", arguments: EffectsCSV.columns + PairsCSV.columns)
    func comparisonColumns(column: String) throws {
        let section = try #require(try document("compare").components(separatedBy: "### effects.csv").last)
        #expect(section.components(separatedBy: "### compare.html")[0].contains("`\(column)`"))
    }

    @Test("Every key of compare.json is named")
    func comparisonKeys() throws {
        let section = try #require(try document("compare").components(separatedBy: "### compare.json").last)
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root)
            let json = try Data(contentsOf: URL(fileURLWithPath: "\(root)/compare.json"))
            let keys = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any]).keys
            for key in keys { #expect(section.components(separatedBy: "\n##")[0].contains("`\(key)`"), "\(key)") }
        }
    }

    @Test("Every verdict is explained", arguments: Verdict.allCases)
    func verdicts(verdict: Verdict) throws { #expect(try document("compare").contains("`\(verdict.rawValue)`")) }

    @Test("Every metric has its line", arguments: Metric.allCases)
    func metrics(metric: Metric) throws {
        let entry = metric.entry
        let row = "\n| `\(metric.rawValue)` | \(metric.unit) | \(entry.worse.mark) | \(entry.definition) |\n"
        #expect(try document("metrics").contains(row))
    }

    @Test("Open names have their lines", arguments: Metric.families.map(\.name))
    func families(name: String) throws {
        let entry = try #require(Metric.families.first { $0.name == name }).entry
        let row = "\n| `\(name)` | \(entry.unit.rawValue) | \(entry.worse.mark) | \(entry.definition) |\n"
        #expect(try document("metrics").contains(row))
    }

    @Test("Every flag has its line", arguments: FigureFlag.Word.allCases)
    func flags(word: FigureFlag.Word) throws {
        let rows = try document("metrics").split(separator: "\n").filter { $0.hasSuffix(" | \(word.meaning) |") }
        #expect(rows.count == 1 && rows.allSatisfy { $0.hasPrefix("| `\(word.rawValue)") })
    }

    @Test("Every statistic is named", arguments: Statistic.allCases)
    func statistics(statistic: Statistic) throws {
        #expect(try document("metrics").contains("`\(statistic.rawValue)`"))
    }

    @Test("Every key of environment.json is named")
    func environment() throws {
        let text = try document("report")
        let run = EnvironmentReport.ofARun
        for json in [
            try run.json(), try JSONEncoder().encode(run.pressureAfter), try JSONEncoder().encode(run.startLoad),
            try JSONEncoder().encode(run.yardsticks), try JSONEncoder().encode(run.yardsticks?[.rawCommit]),
            try JSONEncoder().encode(run.yardsticks?[.memoryWalk]),
        ] {
            let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
            #expect(!object.isEmpty)
            for key in object.keys { #expect(text.contains("`\(key)`"), "\(key) is not explained") }
        }
    }
}
