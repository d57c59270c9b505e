// Tests of the formats of one run, against golden files and with parsers.
import Foundation
import FoundationXML
import Testing
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeReport

@Suite("A whole run in every format")
struct WholeRunTests {
    @Test("Every file is as agreed, byte for byte; made again from the folder it is the same")
    func golden() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let folder = "\(root)/\(WholeRun.runID)"
            let names = [
                "metrics.csv", "series.csv", "journal.ndjson", "report.json", "junit.xml", "summary.md", "report.html",
                "trace.json", "points.csv", "github-action-benchmark.json", "bencher.json",
            ]
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            }
            let texts = try names.map(text)
            for (name, text) in zip(names, texts) { try Fixture.expectGolden(text, "run/\(name)") }
            try FinalReports(cell: Setting.cell).write(into: folder)
            #expect(try names.map(text) == texts)
        }
    }

    @Test("Hangs of trials that are run again are not kept, and a table without rows is none")
    func hangsOfAnotherPart() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let folder = "\(root)/\(WholeRun.runID)"
            let path = "\(folder)/\(HangReports.fileName)"
            let resumption = try Resumption(folder)
            let finished = try #require(resumption.finished.keys.first)
            func row(_ key: TrialKey) -> String {
                CSV.line([
                    "r", key.scenario, key.driver, key.variant, "\(key.trial)", "1", "hang", "", "it hung", "1",
                    "false", "",
                ])
            }
            var other = finished
            other.trial = 99
            let titles = CSV.line(HangReports.columns)
            try Data((titles + row(other) + row(finished)).utf8).write(to: URL(fileURLWithPath: path))
            try resumption.clean(folder)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == titles + row(finished))
            try Data((titles + row(other)).utf8).write(to: URL(fileURLWithPath: path))
            try resumption.clean(folder)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("Bencher gets the median and the range of the repetitions")
    func repetitions() throws {
        var record = RunRecord(runID: "r", environment: .fixed)
        record.header.scenarios = [WholeRun.header.scenarios[0]]
        record.rows = [20, 10, 40].enumerated().map { trial, cost in
            Fixture.row(Figure(.upkeepCost, .value, cost, n: 9), scenario: "result-size", trial: trial)
        }
        let told = try JSONDecoder().decode(
            [String: [String: [String: Double]]].self, from: Data(TrackerJSON.bencher(record).utf8))
        let costs = ["value": 20.0, "lower_value": 10, "upper_value": 40]
        #expect(told == ["result-size/stillingwell": ["upkeep_cost": costs]])
    }

    @Test("The files of a run read back as they were written")
    func readsBack() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let record = try RunRecord.load("\(root)/\(WholeRun.runID)")
            #expect(record.header == WholeRun.header && record.environment == .ofARun)
            #expect(record.rows.filter { $0.scenario == WholeRun.hostile }.count == 9)
            #expect(record.trials.count == 7 && record.skipped.count == 1 && record.judgements.count == 3)
            #expect(record.compared == WholeRun.compared)
            #expect(record.trials.last?.notes == ["at \(WholeRun.hostile)"])
            #expect(record.samples.count == 4)
            #expect(record.samples.keys.contains { $0.scenario == WholeRun.hostile })
            #expect(record.series.count == 4 * 15 + 4)
            let rows = record.rows.map { MetricsCSV.line($0) }.joined()
            let file = try String(contentsOfFile: "\(root)/\(WholeRun.runID)/metrics.csv", encoding: .utf8)
            #expect(file == CSV.line(MetricsCSV.columns) + rows)
        }
    }

    @Test("No format lets a name become markup")
    func escaping() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let folder = "\(root)/\(WholeRun.runID)"
            for name in ["report.html", "junit.xml", "summary.md"] {
                let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                // The page has one script of its own.
                let scripts = text.lowercased().components(separatedBy: "<script").count - 1
                #expect(scripts == (name == "report.html" ? 1 : 0) && !text.contains("<script>alert"), "\(name)")
                #expect(!text.contains("<a,") && !text.contains("]]>"), "\(name)")
                #expect(name != "summary.md" || !text.contains("@all") && !text.contains("|`"), "\(name)")
                for scalar in text.unicodeScalars where scalar != "\n" {
                    #expect(scalar.value >= 32 && scalar.value != 0x202E, "\(name)")
                }
            }
            // XML is well-formed, with a test case per scenario and driver.
            let junit = XMLCases(try Data(contentsOf: URL(fileURLWithPath: folder + "/junit.xml")))
            #expect(junit.isWhole && junit.cases == 6)
            #expect(junit.elements == ["failure": 1, "skipped": 2])
            // Two interleaving tests took 9.61 ms each by their own clock, and five trials took two seconds each.
            #expect(junit.milliseconds["testcase"] == [4_000, 0, 4_000, 2_000, 10, 10])
            let sum = junit.milliseconds["testcase", default: []].reduce(0, +)
            #expect(junit.milliseconds["testsuite"] == [sum] && junit.milliseconds["testsuites"] == [sum])
            let trace = try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: folder + "/trace.json")))
            #expect((trace as? [[String: Any]])?.count == 4 * 5)
        }
    }

    @Test("The page needs nothing from elsewhere")
    func selfContained() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let text = try String(contentsOfFile: "\(root)/\(WholeRun.runID)/report.html", encoding: .utf8)
            for word in ["http:", "https:", "src=", "@import", "url(", "<link"] {
                #expect(!text.contains(word), "\(word)")
            }
            #expect(text.contains("<svg class=\"plot\""))
            #expect(text.contains("prefers-color-scheme: dark") && text.contains("width=device-width"))
        }
    }

    @Test("A run that was killed keeps what it had, and its pages can be made")
    func killed() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root, ends: false)
            let folder = "\(root)/\(WholeRun.runID)"
            #expect(!FileManager.default.fileExists(atPath: folder + "/report.html"))
            for name in ["metrics.csv", "series.csv", "journal.ndjson"] {
                let file = try #require(FileHandle(forWritingAtPath: "\(folder)/\(name)"))
                try file.seekToEnd()
                try file.write(contentsOf: Data("{\"half a li".utf8))
                try file.close()
            }
            try FinalReports(cell: Setting.cell).write(into: folder)
            let page = try String(contentsOfFile: folder + "/report.html", encoding: .utf8)
            #expect(page.contains(">not finished<") && !page.contains("every trial completed"))
        }
    }

    @Test("A folder without a run is refused")
    func noRun() throws {
        try Fixture.withFolder { root in
            #expect(throws: DamagedReport.self) { try RunRecord.load(root) }
            try WholeRun.write(in: root)
            let path = "\(root)/\(WholeRun.runID)/metrics.csv"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try Data((text + "1,2,3\n").utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: DamagedReport.self) { try RunRecord.load("\(root)/\(WholeRun.runID)") }
        }
    }

    /// One trial, and figures of two others, of a run from before the words were renamed.
    @Test("A run of an older version is read with the present words")
    func formerWords() throws {
        let former = "\(Interpreter.repository)/Tests/TidegaugeReportTests/Golden/former-words"
        #expect(try RunRecord.load(former).trials.count == 1)
        let text = try String(contentsOfFile: "\(former)/metrics.csv", encoding: .utf8)
        #expect(text.contains("observers.bystanders=") && text.contains("choreography_time"))
        let rows = try CSV.records(text).dropFirst().map { try #require(MetricsCSV.row($0)) }
        #expect(rows.contains { $0.variant.contains("observers.idle_queries=") })
        #expect(!rows.contains { $0.variant.contains("observers.bystanders") })
        #expect(rows.contains { $0.figure.metric == .interleavingTestTime })
    }
}

/// Counts and times of elements of a JUnit file.
private final class XMLCases: NSObject, XMLParserDelegate {
    var cases = 0
    var elements: [String: Int] = [:]
    /// Values by element, one per occurrence.
    var milliseconds: [String: [Int]] = [:]
    private(set) var isWhole = false

    init(_ data: Data) {
        super.init()
        let parser = XMLParser(data: data)
        parser.delegate = self
        isWhole = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "testcase" { cases += 1 }
        if let time = attributes["time"].flatMap(Double.init) {
            milliseconds[name, default: []].append(Int((time * 1000).rounded()))
        }
        if ["failure", "error", "skipped"].contains(name) { elements[name, default: 0] += 1 }
    }
}
