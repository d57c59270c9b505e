// Tests of pages in a headless Chromium, used like a reader (`Tools/page_test.py`): a run with hostile names, two runs
// on one page, and the reference run of this repository.
import Foundation
import Testing
import TidegaugeScenario
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("Pages in a browser")
struct BrowserTests {
    @Test(
        "They answer on the first screen, hover, zoom, filter, print, and the console has no errors",
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
            let pages = [run, reference].map { "\($0)/\(FinalReports.htmlName)" } + [pair]
            let said = try Interpreter.run(try #require(Interpreter.python), ["\(root)/Tools/page_test.py"] + pages)
            #expect(said.status == 0, "\(said.output)")
            #expect(said.output.components(separatedBy: "checks hold").count == 4, "\(said.output)")
        }
    }
}
