import Foundation
import Testing

@testable import TidegaugeReport

@Suite("CSV")
struct CSVTests {
    @Test(
        "Fields come back as they went in",
        arguments: [
            [""], ["a", "b"], ["a,b", "c"], ["\"", "\"\"", "a\"b"], ["two\nlines", "cr\r", "crlf\r\n"], ["", "", ""],
            [WholeRun.hostile, "ü€", "=1+1"],
        ])
    func roundTrip(fields: [String]) {
        #expect(CSV.records(CSV.line(fields) + CSV.line(["next"])) == [fields, ["next"]])
    }

    @Test("An incomplete last line is ignored")
    func half() {
        #expect(CSV.records("a,b\nc,") == [["a", "b"]])
        #expect(CSV.records("a,b\n\"c\n") == [["a", "b"]])
        #expect(CSV.records("").isEmpty)
    }
}
