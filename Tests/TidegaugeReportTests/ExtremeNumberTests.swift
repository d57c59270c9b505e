// Tests of extreme numbers in files written by others.
import Foundation
import Testing
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec

@testable import TidegaugeReport

@Suite struct ExtremeNumberTests {
    /// Replaces text in a file. Every text has to be there.
    private func edit(_ path: String, _ changes: [(String, String)]) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (old, new) in changes {
            try #require(text.contains(old), "\(path) has no \(old)")
            text = text.replacing(old, with: new)
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: [("inf", false), ("nan", false), ("-1e19", false), ("1e-31", false), ("1e18", true), ("-0", true)])
    func figuresOfATableArePlausible(value: String, isTaken: Bool) throws {
        var figure = CSV.records(MetricsCSV.line(Fixture.rows[0]))[0]
        figure[12] = value
        #expect((MetricsCSV.row(figure) != nil) == isTaken)
        let point = ["r", "s", "d", "", "0", "1", "staleness", "mean", value, "ns"]
        #expect((SeriesCSV.point(point) != nil) == isTaken)
    }

    @Test(arguments: [Int64.min, .max]) func aRunOfExtremeTimesMakesItsPages(extreme: Int64) throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let folder = "\(root)/\(WholeRun.runID)"
            let times = ["\"durationNs\":2000000000", "\"warmUpNs\":0"]
            try edit(
                "\(folder)/\(Journal.fileName)",
                times.map { ($0, $0.replacing(/[0-9]+/, with: "\(extreme)")) })
            let switches = ["\"involuntarySwitches\" : 7", "\"involuntarySwitches\" : 1"]
            try edit(
                "\(folder)/\(EnvironmentJSON.fileName)",
                [
                    (switches[0], "\"involuntarySwitches\" : \(extreme)"),
                    (switches[1], "\"involuntarySwitches\" : \(~extreme)"),
                ])
            try FinalReports(cell: Setting.cell).write(into: folder)
        }
    }

    @Test func aBaselineOfExtremeFiguresIsRefused() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let baseline = RunBaseline(try RunRecord.load("\(root)/\(WholeRun.runID)"))
            try baseline.write("last", in: root)
            try edit(RunBaseline.path("last", in: root), [("31250.75", "1e300")])
            #expect(throws: DamagedReport.self) { try RunBaseline.read("last", in: root) }
        }
    }

    @Test func aHistoryOfExtremeFiguresIsRefused() throws {
        try Fixture.withFolder { root in
            let name = FigureName("upkeep_cost", "value")
            let row = ComparedRow(
                scenario: "s", driver: "d", variant: "", name: name, criterion: Criterion(name), isGate: true, pairs: 1)
            let path = "\(root)/\(HistoryFile.fileName)"
            let point = HistoryPoint(row, commit: "c1", position: 1, anchor: "a", machine: "m")
            try HistoryFile.append([point, point], to: path)
            #expect(try HistoryFile.read(path).count == 2)
            try edit(path, [("\"logRatio\":0", "\"logRatio\":1e300")])
            let error = #expect(throws: DamagedReport.self) { try HistoryFile.read(path) }
            #expect(error?.description.contains("point 1, of c1,") ?? false)
        }
    }

    @Test(arguments: [
        ("\"pairs\":8", "\"pairs\":9223372036854775807"), ("\"pairs\":8", "\"pairs\":-1"),
        ("\"resamples\":100", "\"resamples\":100000000000"), ("\"lengthSeconds\":1.5", "\"lengthSeconds\":1e300"),
    ])
    func aComparisonOfExtremeNumbersIsRefused(old: String, new: String) throws {
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root)
            try edit("\(root)/\(ComparisonRecord.journalName)", [(old, new)])
            #expect(throws: DamagedReport.self) { try JudgedComparison(root) }
        }
    }

    @Test func aCalibrationOfImpossibleNumbersIsNone() throws {
        try Fixture.withFolder { root in
            var calibration = Calibration(nulls: [])
            _ = try calibration.write(root)
            #expect(Calibration.ofThisMachine(root) == calibration)
            calibration.falseReds = 1
            try FileManager.default.removeItem(atPath: Calibration.path(root))
            try Data(JSONFile.text(calibration).utf8).write(to: URL(fileURLWithPath: Calibration.path(root)))
            #expect(Calibration.ofThisMachine(root) == nil)
        }
    }

    @Test(arguments: [Double.greatestFiniteMagnitude, 5e-324, 1e300, .infinity, .nan]) func anyNumberHasWords(
        value: Double
    ) {
        for unit in ["ns", "bytes"] {
            #expect(!Humanised.text(value, unit: unit).isEmpty && !Humanised.text(-value, unit: unit).isEmpty)
        }
    }
}
