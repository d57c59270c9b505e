import Foundation
import StillingWellSeededRandom
import Testing
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec

@testable import TidegaugeReport

@Suite("points.csv")
struct PointsTests {
    /// Values of each key in a variant, and the text in its column.
    private static let keys: [(key: String, values: [(text: String, cell: String)])] = [
        ("dataset.items", [("1000", "1000"), ("100000", "100000")]),
        ("observers.match", [("0.5", "0.5"), ("1", "1")]),
        ("observers.queries", [("same", "same"), ("filters", "filters")]),
        ("server.standby", [("100us", "100000"), ("2ms", "2000000")]),
        ("writers.change", [("insert:1+update:3", "insert:1+update:3"), ("update", "update")]),
        ("writers.rate", [("200/s", "200"), ("none", "")]),
    ]

    @Test("Each figure and each key has a column of its own, whatever the others are", arguments: seeds(40))
    func columns(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var rows: [RunRow] = []
        var places: [String: [String: String]] = [:]
        for scenario in 0..<(1 + random.below(3)) {
            let swept = Self.keys.filter { _ in random.below(2) == 0 }
            for point in 0..<3 {
                let chosen = swept.map { ($0.key, $0.values[random.below($0.values.count)]) }
                let variant = chosen.map { "\($0)=\($1.text)" }.joined(separator: ";")
                places[variant] = Dictionary(uniqueKeysWithValues: chosen.map { ($0, $1.cell) })
                for statistic in Statistic.allCases where random.below(2) == 0 {
                    let value = random.below(3) == 0 ? nil : Double(random.below(1_000))
                    rows.append(
                        Fixture.row(
                            Figure(.staleness, statistic, value, n: 7), scenario: "s\(scenario)", variant: variant,
                            trial: point))
                }
            }
        }
        rows.append(Fixture.row(Figure(.upkeepExponent, .value, 1, n: 3), variant: RunRow.overSweep))
        let records = CSV.records(PointsCSV.render(rows.shuffled(using: &random), cell: Setting.cell))
        let header = try #require(records.first)
        #expect(Array(header.prefix(PointsCSV.columns.count)) == PointsCSV.columns)
        // Number of figures whose cells were compared.
        var cells = 0
        for record in records.dropFirst() {
            try #require(record.count == header.count, "seed \(seed)")
            let line = Dictionary(uniqueKeysWithValues: zip(header, record))
            let variant = line["variant"]!
            let own = rows.filter {
                $0.scenario == line["scenario"] && $0.variant == variant && "\($0.trial)" == line["trial"]
            }
            for key in header.dropFirst(PointsCSV.columns.count) {
                #expect(line[key] == places[variant]![key] ?? "", "seed \(seed)")
            }
            #expect(places[variant]!.keys.allSatisfy(header.contains), "seed \(seed)")
            for statistic in Statistic.allCases {
                let figure = own.first { $0.figure.statistic == statistic }?.figure
                #expect(line[statistic.rawValue] == figure?.value.map { "\(Int($0))" } ?? "", "seed \(seed)")
                if figure != nil { cells += 1 }
            }
        }
        #expect(cells == rows.count - 1 && Set(records).count == records.count, "seed \(seed)")
    }
}

@Suite("Missing values")
struct MissingValueTests {
    @Test("A figure without a value is an empty cell, and none when it is read back", arguments: ["", "n/a"])
    func readBack(cell: String) throws {
        let row = Fixture.row(Figure(.staleness, .p99, nil, n: 3))
        var record = try #require(CSV.records(MetricsCSV.line(row)).first)
        #expect(record[12] == "")
        record[12] = cell
        #expect(MetricsCSV.row(record) == row)
    }

    @Test("A cell that is neither a number nor missing is damage", arguments: ["-", "1,5", "12 ns", "N/A"])
    func damaged(cell: String) throws {
        var record = try #require(CSV.records(MetricsCSV.line(Fixture.rows[0])).first)
        record[12] = cell
        #expect(MetricsCSV.row(record) == nil)
    }

    @Test("A run of an earlier version, which has n/a there, makes the same files")
    func earlier() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let folder = "\(root)/\(WholeRun.runID)"
            let path = "\(folder)/\(MetricsCSV.fileName)"
            let record = try RunRecord.load(folder)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains(",,ns,") && !text.contains("n/a"))
            try Data(text.replacing(",,ns,", with: ",n/a,ns,").utf8).write(to: URL(fileURLWithPath: path))
            #expect(try RunRecord.load(folder).rows == record.rows)
            let names = [FinalReports.jsonName, FinalReports.markdownName, FinalReports.htmlName, PointsCSV.fileName]
            func texts() throws -> [String] {
                try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
            }
            let before = try texts()
            try FinalReports(cell: Setting.cell).write(into: folder)
            #expect(try texts() == before)
        }
    }
}
