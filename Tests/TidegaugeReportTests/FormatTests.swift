import Foundation
import Testing
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("Report formats")
struct FormatTests {
    @Test("metrics.csv is as agreed, byte for byte")
    func metricsCSV() throws {
        try Fixture.withFolder { folder in
            let run = ReportedRun(runID: "r", directory: folder, environment: .fixed)
            let format = MetricsCSV()
            try format.begin(run)
            for row in Fixture.rows { try format.add([row]) }
            try format.end(run)
            try Fixture.expectGolden(String(contentsOfFile: folder + "/metrics.csv", encoding: .utf8), "metrics.csv")
        }
    }

    @Test("environment.json is as agreed, byte for byte")
    func environmentJSON() throws {
        try Fixture.withFolder { folder in
            let run = ReportedRun(runID: "r", directory: folder, environment: .ofARun)
            let format = EnvironmentJSON()
            try format.begin(run)
            try format.end(run)
            try Fixture.expectGolden(
                String(contentsOfFile: folder + "/environment.json", encoding: .utf8), "environment.json")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["environment.json"])
        }
    }

    @Test("The console says at which rate an engine was saturated")
    func saturated() throws {
        var row = try #require(Fixture.rows.first { $0.figure.metric == .trialOutcome })
        row.figure = Figure(.trialOutcome, .value, 0, n: 1, flags: [.saturated(rateHz: 134.6)])
        let summary = ConsoleSummary.render([row], gates: [:])
        #expect(summary.contains("1 of 1 trials: saturated at 135/s, below the rate asked for\n"), "\(summary)")
    }

    @Test("The console summary is as agreed, byte for byte")
    func consoleSummary() throws {
        var printed = ""
        let format = ConsoleSummary(gates: [:]) { printed += $0 }
        let run = ReportedRun(runID: "r", directory: "/", environment: .fixed)
        try format.begin(run)
        for row in Fixture.rows { try format.add([row]) }
        #expect(printed.isEmpty)
        try format.end(run)
        try Fixture.expectGolden(printed, "summary.txt")
        #expect(ConsoleSummary.render([], gates: [:]) == "")
    }

    @Test("The header is the agreed columns in the agreed order")
    func columns() {
        #expect(
            MetricsCSV.columns.joined(separator: ",")
                == "schema_version,run_id,commit,dirty,scenario,scenario_sha,driver,variant,trial,seed,"
                + "metric,statistic,value,unit,n,censored,flags")
    }

    @Test(
        "Values keep their precision and times stay whole",
        arguments: [
            (Figure(.endToEndLatency, .p50, 12.6, n: 1), "13"), (Figure(.coalescingRatio, .value, 1.5, n: 1), "1.5"),
            (Figure(.coalescingRatio, .value, 2, n: 1), "2"), (Figure(.upkeepCost, .value, 0.1, n: 1), "0.1"),
            (Figure(.staleness, .max, 9_007_199_254_740_991, n: 1), "9007199254740991"),
            (Figure(.staleness, .max, nil, n: 1), ""), (Figure(.staleness, .mean, .nan, n: 1), ""),
            (Figure(.upkeepExponent, .slope, .infinity, n: 1), ""), (Figure(.lockWait, .min, -0.2, n: 1), "0"),
        ])
    func values(figure: Figure, text: String) {
        #expect(MetricsCSV.value(figure.value, unit: figure.metric.unit) == text)
    }

    @Test(
        "Fields are quoted as RFC 4180 has it",
        arguments: [
            ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""), ("cr\r", "\"cr\r\""), ("a;b=1", "a;b=1"),
        ])
    func quoting(field: String, quoted: String) {
        #expect(CSV.quoted(field) == quoted)
    }

    @Test(
        "People get three digits and a unit",
        arguments: [
            (0, "ns", "0 ns"), (812, "ns", "812 ns"), (12_345, "ns", "12.3 µs"), (999.7, "ns", "1.00 µs"),
            (999_700, "ns", "1.00 ms"), (4_567_890, "ns/commit", "4.57 ms"), (61_000_000_000, "ns", "61.0 s"),
            (-40, "ns/commit", "-40 ns"), (0.0421, "1", "0.0421"), (1.25, "commits/callback", "1.25"),
            (1_234_567, "commits/s", "1.23M"), (199.6, "commits/s", "200"), (0.333_333, "1", "0.333"),
            (nil, "ns", "n/a"), (.nan, "ns", "n/a"),
        ] as [(Double?, String, String)])
    func humanised(value: Double?, unit: String, text: String) {
        #expect(Humanised.text(value, unit: unit) == text)
    }
}
