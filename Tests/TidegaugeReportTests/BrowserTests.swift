// Tests of pages in a headless Chromium, used like a reader (`Tools/page_test.py`).
import Foundation
import Testing
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("Pages in a browser")
struct BrowserTests {
    @Test(
        "The pages show the answers first; hover, zoom, filter and print work without console errors",
        .enabled("there is no Chromium, or no Python: make page-test installs or names what is missing") {
            Interpreter.browser != nil && Interpreter.python != nil
        })
    func used() throws {
        let root = Interpreter.repository
        try Fixture.withFolder { folder in
            try WholeRun.write(in: folder)
            let run = "\(folder)/\(WholeRun.runID)"
            let later = "\(folder)/later"
            try FileManager.default.copyItem(atPath: run, toPath: later)
            let pair = try PairReport.write(base: run, head: later).path
            let reference = "\(folder)/reference"
            try FileManager.default.copyItem(atPath: "\(root)/Reports/reference", toPath: reference)
            try FinalReports(cell: Setting.cell).write(into: reference)
            let counted = try countedRun(from: run, in: folder)
            let (compared, countedOnly) = ("\(folder)/compared", "\(folder)/counted-only")
            try WholeComparison.write(in: compared)
            _ = try CountedOnlyReportTests().report(countedOnly, heads: [51_000, 50_000])
            let pages =
                [run, reference, counted].map { "\($0)/\(FinalReports.htmlName)" } + [pair]
                + [compared, countedOnly].map { "\($0)/\(ComparisonReport.htmlName)" }
            let said = try Interpreter.run(try #require(Interpreter.python), ["\(root)/Tools/page_test.py"] + pages)
            #expect(said.status == 0, "\(said.output)")
            #expect(said.output.components(separatedBy: "checks hold").count == pages.count + 1, "\(said.output)")
        }
    }

    /// Makes a counted run of two points out of a timed one.
    private func countedRun(from run: String, in folder: String) throws -> String {
        let counted = "\(folder)/counted"
        try FileManager.default.copyItem(atPath: run, toPath: counted)
        let journal = "\(counted)/\(Journal.fileName)"
        let events = try String(contentsOfFile: journal, encoding: .utf8)
        let header = #"{"run":{"counter":"callgrind","#
        try Data(events.replacing(#"{"run":{"#, with: header, maxReplacements: 1).utf8)
            .write(to: URL(fileURLWithPath: journal))
        let rows = [(1_000, 40_000.0), (100_000, 52_000)].flatMap { items, count in
            RunRow.rows(
                [
                    Figure(.writerInstructions, .value, count, n: 100, flags: [.counted(by: .callgrind)]),
                    Figure(.upkeepInstructions, .value, 2 * count, n: 100, flags: [.counted(by: .callgrind)]),
                    Figure(.observerInstructions, .value, 3 * count, n: 100, flags: [.counted(by: .callgrind)]),
                ], of: WholeRun.spec("result-size", "stillingwell", "dataset.items=\(items)"), runID: WholeRun.runID,
                environment: .ofARun)
        }
        let file = try #require(FileHandle(forWritingAtPath: "\(counted)/\(MetricsCSV.fileName)"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(rows.map(MetricsCSV.line).joined().utf8))
        try file.close()
        try FinalReports(cell: Setting.cell).write(into: counted)
        return counted
    }
}
