// Tests of pages of one and two runs, beyond their golden files.
import Foundation
import Testing
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeReport

@Suite("Pages")
struct PageTests {
    private func page(_ change: (inout RunRecord) -> Void = { _ in }) throws -> String {
        var text = ""
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            var record = try RunRecord.load("\(root)/\(WholeRun.runID)")
            change(&record)
            text = try HTMLReport.render(record)
        }
        return text
    }

    @Test("Every file of Pages is embedded as it is, and every template that one includes is there")
    func files() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/TidegaugeReport/Pages")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == Set(PageTexts.texts.keys) && names.count > 10)
        for name in names {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            #expect(PageTexts.texts[name] == text, "\(name)")
            guard name.hasSuffix(".html") else { continue }
            #expect(!HTMLPage.template(String(name.dropLast(5))).contains("{{>"), "\(name)")
        }
    }

    @Test("All eight questions come before the first table, and every link leads to a target")
    func firstScreen() throws {
        let page = try page()
        let table = try #require(page.range(of: "<table")).lowerBound
        for question in Answer.Question.allCases {
            let place = try #require(page.range(of: "<h2>\(question.rawValue) <small>"), "\(question)")
            #expect(place.lowerBound < table)
        }
        let links = page.matches(of: #/href="#([\w-]+)"/#).map { String($0.output.1) }
        #expect(links.count > 10)
        for link in links { #expect(page.contains("id=\"\(link)\""), "\(link)") }
        let places = page.matches(of: #/ id="([\w-]+)"/#).map { String($0.output.1) }
        #expect(Set(places).count == places.count)
    }

    @Test("An interleaving test is a row, and no scenario of the list")
    func interleavingTests() throws {
        let page = try page()
        #expect(page.contains("<td class=\"good\">✔ 9.61 ms</td>"))
        #expect(page.contains("<span class=\"good\">caught in 9.61 ms</span> <span class=\"quiet\">flawed</span>"))
        #expect(page.contains("<h2>2 scenarios</h2>") && page.contains("<h2>1 interleaving test</h2>"))
    }

    @Test("A gate without a figure says so, and one under zero is not told in large type")
    func headlines() throws {
        let page = try page { record in
            for index in record.rows.indices where record.rows[index].figure.metric == .upkeepCost {
                record.rows[index].figure.value = -4_270_000
            }
            record.rows.removeAll { $0.figure.metric == .endToEndLatency && $0.driver == "stillingwell" }
        }
        #expect(page.contains("not measurable, noise ± 4.27 ms <small>upkeep_cost"))
        #expect(page.contains("<p class=\"number long\">not measurable, noise ± 4.27 ms</p>"))
        let gates = page.matches(of: #/class="gate">([^<]*)/#).map(\.output.1)
        #expect(!gates.isEmpty && gates.allSatisfy { !$0.contains("n/a") && !$0.contains("-4.27") })
    }

    @Test("A gate whose median is 0 shows the first percentile that is not")
    func zeroMedian() {
        var record = RunRecord(runID: "r", environment: .fixed)
        record.header.scenarios = [WholeRun.header.scenarios[0]]
        record.header.scenarios[0].gate = .staleness
        record.rows = [
            Fixture.row(Figure(.staleness, .p50, 0, n: 9_000, flags: [.atFloor]), scenario: "result-size"),
            Fixture.row(Figure(.staleness, .p90, 0, n: 9_000, flags: [.atFloor]), scenario: "result-size"),
            Fixture.row(Figure(.staleness, .p99, 781_823, n: 9_000), scenario: "result-size"),
        ]
        let gate = Digest.gate("result-size", record)
        #expect(gate.map(\.name) == ["staleness p99"] && gate.map(\.text) == ["782 µs"])
        record.rows = [Fixture.row(Figure(.staleness, .p50, nil, n: 9), scenario: "result-size")]
        #expect(Digest.gate("result-size", record).map(\.text) == ["too few samples"])
    }

    // MARK: Two runs

    @Test("A page of two runs says first what changed, most of all first, and draws both")
    func pair() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let base = "\(root)/\(WholeRun.runID)"
            let head = "\(root)/later"
            try FileManager.default.copyItem(atPath: base, toPath: head)
            let csv = try String(contentsOfFile: "\(head)/metrics.csv", encoding: .utf8)
            let later = csv.replacing("812000", with: "999000").replacing("29000,ns", with: "58000,ns")
            try Data(later.utf8).write(to: URL(fileURLWithPath: "\(head)/metrics.csv"))
            let written = try PairReport.write(base: base, head: head)
            #expect(written.path == "\(head)/against-\(WholeRun.runID).html" && written.text.contains("+23.0 %"))
            let page = try String(contentsOfFile: written.path, encoding: .utf8)
            let changed = try #require(page.range(of: "What changed (2)"))
            let answers = try #require(page.range(of: "<ul class=\"answers\">"))
            #expect(changed.lowerBound < answers.lowerBound)
            let shares = page.matches(of: #/<td class="by \w+"><span[^>]*></span>\+(\d+)/#).map { String($0.output.1) }
            #expect(shares == ["100", "23"])
            #expect(page.contains("was 812 µs (+23.0 %)"))
            #expect(page.contains("stillingwell before") && page.contains("stillingwell now"))
            #expect(page.contains("812 µs → 999 µs"))
            let links = page.matches(of: #/href="#([\w-]+)"/#).map { String($0.output.1) }
            for link in links { #expect(page.contains("id=\"\(link)\""), "\(link)") }
            #expect(page.components(separatedBy: "<script").count == 2 && !page.contains("<script>alert"))
        }
    }

    @Test("Two runs without a common scenario are refused, with the scenarios of each")
    func pairWithoutCommonScenario() throws {
        try Fixture.withFolder { root in
            try WholeRun.write(in: root)
            let head = "\(root)/\(WholeRun.runID)"
            let base = "\(root)/other"
            try FileManager.default.copyItem(atPath: head, toPath: base)
            let lines = try String(contentsOfFile: "\(base)/metrics.csv", encoding: .utf8).split(separator: "\n")
            try Data(
                ((lines.prefix(1) + lines.filter { $0.contains("result-size") }).joined(separator: "\n") + "\n")
                    .replacing("result-size", with: "other").utf8
            ).write(to: URL(fileURLWithPath: "\(base)/metrics.csv"))
            let events = try String(contentsOfFile: "\(base)/journal.ndjson", encoding: .utf8).split(separator: "\n")
            try Data((events[0] + "\n").utf8).write(to: URL(fileURLWithPath: "\(base)/journal.ndjson"))
            let error = #expect(throws: DamagedReport.self) { try PairReport.write(base: base, head: head) }
            let text = try #require(error?.description)
            #expect(text.hasPrefix("no scenario in common: \(base) has other; \(head) has result-size, "), "\(text)")
            #expect(text.hasSuffix(", lock-order"), "\(text)")
        }
    }

    @Test("Drivers on which limits are not judged are named, and no limit counts as kept where none was judged")
    func unjudged() throws {
        let page = try page {
            ($0.header.unjudged, $0.header.engines) = (["dict", "grdb-pool"], ["./dict.yaml": "dict"])
            ($0.judgements, $0.skipped) = ([], [])
            $0.trials.removeAll { $0.fate != .completed }
            $0.end = EndRecord(exitCode: 0)
        }
        #expect(page.contains("every trial completed, no limit was judged."))
        #expect(page.contains("limits: not judged on engines in a process (dict)"))
        #expect(page.contains("limits: not judged on grdb-pool, which the scenario does not name"))
    }

    // MARK: Engines side by side

    /// Makes a run of two engines at several points. The peer's latency is longer by the given factors, its cost less.
    private func engines(_ factors: [Double]) -> RunRecord {
        var record = RunRecord(runID: "r", environment: .fixed)
        record.header.scenarios = [WholeRun.header.scenarios[0]]
        for (index, factor) in factors.enumerated() {
            for (driver, value) in [("stillingwell", 1_000.0), ("grdb", 1_000 * factor)] {
                let spec = WholeRun.spec("result-size", driver, "dataset.items=\(index)")
                record.trials.append(TrialRecord(TrialResult(fate: .completed), of: spec))
                let figures = [
                    Figure(.endToEndLatency, .p50, value, n: 100), Figure(.upkeepCost, .value, 1_000_000 / value, n: 9),
                ]
                record.rows += RunRow.rows(figures, of: spec, runID: "r", environment: .fixed)
            }
        }
        return record
    }

    @Test("Engines are told apart by ratios with their interval, or with their ends where points are few")
    func ratios() {
        #expect(
            EngineRatios.all(engines([2, 4, 8, 8, 8, 16, 32])).flatMap(\.lines) == [
                "grdb against stillingwell: 8.0× slower at p50 (4.0 … 16), 8.0× less CPU (4.0 … 16), 95 % interval over 7 pairs"
            ])
        #expect(
            EngineRatios.all(engines([0.25])).flatMap(\.lines) == [
                "grdb against stillingwell: 4.0× faster at p50, 4.0× more CPU (1 pair, no interval)"
            ])
        #expect(EngineRatios.all(engines([])).isEmpty)
    }

    @Test("The table of engines has a row per engine and point, and the best figure of a point is marked")
    func table() throws {
        let table = try #require(EngineTable.all(engines([2, 0.5])).first)
        #expect(table.columns.map(\.title) == ["end-to-end p50", "CPU/commit"])
        #expect(table.rows.map(\.driver) == ["stillingwell", "grdb", "stillingwell", "grdb"])
        // The peer is slower at the first point and faster at the second, for as much less and more CPU.
        #expect(table.rows.map(\.areBest) == [[true, false], [false, true], [false, true], [true, false]])
        #expect(
            table.rows.map(\.ratios) == [
                "", "2.0× slower at p50, 2.0× less CPU (1 pair, no interval)", "",
                "2.0× faster at p50, 2.0× more CPU (1 pair, no interval)",
            ])
        let equal = try #require(EngineTable.all(engines([1])).first)
        #expect(equal.rows.map(\.areBest) == [[false, false], [false, false]])
    }

    @Test("Colours of engines are no greens and reds, which are verdicts, and no two are alike")
    func colours() throws {
        let colours = HTMLPage.text("page.css").matches(of: #/--s(\d): #([0-9a-f]{6})/#).map(\.output)
        #expect(colours.map { Int($0.1) } == Array(1...Plot.slots) + Array(1...Plot.slots))
        for theme in [colours.prefix(Plot.slots), colours.suffix(Plot.slots)] {
            let all = try theme.map { colour in
                let number = try #require(Int(colour.2, radix: 16))
                return (red: Double(number >> 16), green: Double(number >> 8 & 255), blue: Double(number & 255))
            }
            for (place, (red, green, blue)) in all.enumerated() {
                let most = max(red, green, blue)
                let range = most - min(red, green, blue)
                // A grey has no hue. A red is within 20° of the hue 0.
                let isRed = most == red && abs(green - blue) <= range / 3
                #expect(range == 0 || most > green && !isRed, "\(colours[place])")
                for other in all[..<place] {
                    #expect(hypot(hypot(red - other.red, green - other.green), blue - other.blue) > 40)
                }
            }
        }
    }

    @Test("Ratios of different numbers of pairs each state theirs")
    func mixedPairs() {
        var record = engines([2, 4])
        record.rows.removeAll { $0.figure.metric == .upkeepCost && $0.variant == "dataset.items=0" }
        #expect(
            EngineRatios.all(record).flatMap(\.lines) == [
                "grdb against stillingwell: 2.8× slower at p50 (2.0 … 4.0), range over 2 pairs; 4.0× less CPU (1 pair, no "
                    + "interval)"
            ])
        #expect(EngineRatios.all(record).map(\.sentence) == ["stillingwell is 2.8× faster at p50 than grdb"])
        record.rows.removeAll { $0.figure.metric == .endToEndLatency }
        #expect(EngineRatios.all(record).map(\.sentence) == ["stillingwell: 4.0× more CPU than grdb"])
    }

    @Test("A figure at or under zero is no part of a ratio")
    func noRatio() {
        var record = engines([2, 4])
        record.rows[2].figure.value = 0
        record.rows.removeAll { $0.figure.metric == .upkeepCost }
        #expect(
            EngineRatios.all(record).flatMap(\.peers).flatMap(\.ratios).map(\.count) == [1])
    }
}
