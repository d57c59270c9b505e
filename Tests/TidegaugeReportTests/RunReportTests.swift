import Foundation
import Testing
import TidegaugeMeasure

@testable import TidegaugeReport

@Suite("A run's report on disk")
struct RunReportTests {
    private func csv(_ folder: String) throws -> String {
        try String(contentsOfFile: folder + "/metrics.csv", encoding: .utf8)
    }

    @Test("After each trial the rows are in the file, and `latest` leads there from the start")
    func grows() throws {
        try Fixture.withFolder { root in
            let report = try RunReport(root: root + "/new/Reports", runID: "run-1", environment: .fixed)
            let latest = root + "/new/Reports/latest"
            #expect(try csv(latest).split(separator: "\n").count == 1)
            for (n, row) in Fixture.rows.enumerated() {
                try report.add([row])
                #expect(try csv(latest).split(separator: "\n").count == n + 2)
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: latest) == "run-1")
            var finished = EnvironmentReport.fixed
            finished.loadAverage = [9, 9, 9]
            try report.end(environment: finished)
            let json = try Data(contentsOf: URL(fileURLWithPath: latest + "/environment.json"))
            #expect(try JSONDecoder().decode(EnvironmentReport.self, from: json) == finished)
            _ = try RunReport(root: root + "/new/Reports", runID: "run-2", environment: .fixed)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: latest) == "run-2")
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/new/Reports").count == 3)
        }
    }

    @Test("A resumed run keeps its lines, and half a line that a kill left is cut off")
    func resumes() throws {
        try Fixture.withFolder { root in
            try RunReport(root: root, runID: "r", environment: .fixed).add([Fixture.rows[0]])
            let whole = try csv(root + "/r")
            try Data((whole + "1,half a li").utf8).write(to: URL(fileURLWithPath: root + "/r/metrics.csv"))
            let resumed = try RunReport(root: root, runID: "r", environment: .fixed)
            #expect(try csv(root + "/r") == whole)
            try resumed.add([Fixture.rows[1]])
            #expect(try csv(root + "/r") == whole + MetricsCSV.line(Fixture.rows[1]))
            // A kill within the first line leaves an incomplete header.
            try Data("schema_ver".utf8).write(to: URL(fileURLWithPath: root + "/r/metrics.csv"))
            _ = try RunReport(root: root, runID: "r", environment: .fixed)
            #expect(try csv(root + "/r") == MetricsCSV.columns.joined(separator: ",") + "\n")
        }
    }

    @Test("A file that cannot be written is an error that names it and a remedy")
    func errors() throws {
        try Fixture.withFolder { root in
            try FileManager.default.createDirectory(atPath: root + "/latest/full", withIntermediateDirectories: true)
            #expect(throws: ReportError.self) { try RunReport(root: root, runID: "r", environment: .fixed) }
            do {
                try ReportFile.replace("/proc/nothing/here", with: "x".utf8)
                Issue.record("writing into /proc succeeded")
            } catch {
                let text = "\(error)"
                #expect(text.hasPrefix("/proc/nothing/here.new: cannot create the file: "))
                #expect(text.contains("--out"))
            }
        }
    }

    @Test("A disk that is full is an error, not a file that ends early without a word")
    func fullDisk() throws {
        let file = open("/dev/full", O_WRONLY)
        defer { close(file) }
        #expect(throws: ReportError.self) { try ReportFile.write("x".utf8, to: file, path: "/dev/full") }
    }

    @Test("Run names sort by time")
    func runID() {
        #expect(
            RunReport.makeRunID(secondsSince1970: 1_769_860_800, entropy: 0x1A2B_3C4D) == "20260131T120000Z-1a2b3c4d")
        #expect(
            RunReport.makeRunID(secondsSince1970: 9, entropy: 5) < RunReport.makeRunID(secondsSince1970: 10, entropy: 1)
        )
    }

    @Test("A trial's figures carry its identity")
    func rowsOfSpec() {
        let spec = TrialSpecFixture.spec
        let rows = RunRow.rows(
            [TrialFate.hang.figure, Figure(.lockWait, .p50, 5, n: 20)], of: spec, runID: "r", environment: .fixed)
        #expect(rows.count == 2)
        for row in rows {
            #expect(row.scenario == spec.scenario && row.scenarioSHA == spec.scenarioSHA && row.driver == spec.driver)
            #expect(row.variant == spec.variant && row.trial == spec.trial && row.seed == spec.seed)
            #expect(row.commit == "0123abcd" && row.dirty && row.runID == "r")
        }
    }
}

/// Links that another user may have put where a report is written.
@Suite struct PlantedLinkTests {
    @Test func nothingIsWrittenThroughALink() throws {
        try Fixture.withFolder { root in
            let victim = "\(root)/victim"
            for name in ["page.html.new", "history.ndjson"] {
                try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
                try FileManager.default.createSymbolicLink(atPath: "\(root)/\(name)", withDestinationPath: victim)
            }
            try ReportFile.replace("\(root)/page.html", with: "new".utf8)
            #expect(throws: ReportError.self) { try AppendedFile("\(root)/history.ndjson") }
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "kept")
            #expect(try String(contentsOfFile: "\(root)/page.html", encoding: .utf8) == "new")
        }
    }
}
