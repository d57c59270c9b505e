// Tests of the questions in Docs/report.md, in pandas and DuckDB. They run the documented lines on the reference run
// of this repository, and compare with Python code over metrics.csv (`Tools/data_test.py`).
import Foundation
import Testing
import TidegaugeScenario
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("Tables for pandas and DuckDB")
struct TableTests {
    @Test(
        "The lines of the document answer its questions, and both alike",
        .enabled("there is no Python with pandas and DuckDB: make data-test puts one into .build-data") {
            Interpreter.withTables != nil
        })
    func answered() throws {
        let root = Interpreter.repository
        try Fixture.withFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/Reports", withIntermediateDirectories: true)
            let reference = "\(folder)/Reports/latest"
            try FileManager.default.copyItem(atPath: "\(root)/Reports/reference", toPath: reference)
            try FinalReports(cell: Setting.cell).write(into: reference)
            let said = try Interpreter.run(
                try #require(Interpreter.withTables),
                ["\(root)/Tools/data_test.py", "\(root)/Docs/report.md", folder]
            )
            #expect(said.status == 0 && said.output.hasSuffix("6 answers hold\n"), "\(said.output)")
        }
    }
}
