// Tests of the files of a comparison, of a history and of a calibration.
import Foundation
import FoundationXML
import Testing
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec

@testable import TidegaugeReport

/// Two gates, one of them slower, a tail, metrics of one side, a void pair, a crashed trial, and a scenario that only
/// one side has.
enum WholeComparison {
    static var plan: ComparisonPlan {
        let subjects = [("slow", "write_service_time"), (WholeRun.hostile, "end_to_end_latency")].map { name, gate in
            ComparedSubject(
                scenario: name, driver: "stillingwell", purpose: "Is \(name) safe?", gate: gate, statistic: "p50",
                points: [WholeRun.spec(name, "stillingwell", "durability=memory")])
        }
        return ComparisonPlan(
            base: ComparedSide(
                name: "HEAD~1", commit: String(repeating: "a", count: 40), executable: "/b", fingerprint: "1"),
            head: ComparedSide(
                name: "working tree", commit: String(repeating: "b", count: 40), executable: "/h", fingerprint: "2",
                isDirty: true),
            subjects: subjects, oneSided: [OneSided(what: "old \(WholeRun.hostile)", why: "only the base has it")],
            pairs: 8, seed: 5, resamples: 100)
    }

    private static func side(_ assignment: ComparisonEngine.Assignment, isHead: Bool) -> SideTrial {
        let isSlow = assignment.subject == 0
        // A wave that both sides have, and a ripple that differs.
        let level = 40_000 + 300 * Double(assignment.number % 7)
        let ripple = 60 * Double((assignment.number * 5 + (isHead ? 3 : 0)) % 11)
        let value = (level + ripple) * (isHead && isSlow ? 1.08 : 1)
        var histogram = LatencyHistogram()
        for sample in 1...200 { histogram.record(Int64(value) + Int64(sample * sample)) }
        let gate = isSlow ? Metric.writeServiceTime : .endToEndLatency
        let record = histogram.record(for: gate, lengthNs: 1)!
        let more: [SideTrial.Value] =
            isHead ? [.init(FigureName("brand_new", "value"), 7)] : [.init(FigureName("long_gone", "value"), 3)]
        return SideTrial(
            fate: .completed,
            values: [
                .init(FigureName(gate.rawValue, "p50"), value), .init(FigureName(gate.rawValue, "p99"), value * 2),
                .init(
                    FigureName("coalescing_ratio", "value"), isHead && isSlow ? 1.5 + ripple / 1e5 : 1 + ripple / 1e5),
            ] + more,
            samples: [record],
            noise: NoiseAccount(stealShare: 0.001, hiccupP99Ns: 150_000), dueCommits: 400)
    }

    /// - Parameter freshPairs: fresh pairs of the slower gate after which it is interrupted. nil: never.
    static func write(in directory: String, freshPairs: Int? = nil) throws {
        let report = try ComparisonReport(directory, plan, .fixed)
        var engine = ComparisonEngine(plan)
        while engine.tracks[0].confirm.count != freshPairs, let assignment = engine.next() {
            var point = PointPair(
                variant: "durability=memory", headFirst: assignment.headFirst[0],
                base: side(assignment, isHead: false), head: side(assignment, isHead: true))
            if assignment.subject == 1, assignment.number == 2 {
                point.head = SideTrial(
                    fate: .crashed(signal: "SIGSEGV"), values: [], notes: ["at \(WholeRun.hostile)"])
            }
            let record = PairRecord(
                subject: assignment.subject, number: assignment.number, stage: assignment.stage,
                atSeconds: engine.spentSeconds, lengthSeconds: 1.5, points: [point],
                void: assignment.subject == 0 && assignment.number == 3 ? "steal on head" : nil)
            try report.add(record)
            engine.take(record)
        }
        var record = ComparisonRecord(plan, .fixed)
        record.isFinished = freshPairs == nil
        try report.end(JudgedComparison(record, engine), exitCode: record.isFinished ? 1 : 130)
    }
}

@Suite("A comparison's report")
struct ComparisonReportTests {
    private static let names = [
        "pairs.csv", "effects.csv", "compare.json", "summary.md", "compare.html", "github-action-benchmark.json",
        "bencher.json", "annotations.txt",
    ]

    @Test("Every file is the golden one, and all but pairs.csv are made again alike")
    func golden() throws {
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root)
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
            }
            let texts = try Self.names.map(text)
            for (name, text) in zip(Self.names, texts) { try Fixture.expectGolden(text, "compare/\(name)") }
            try Fixture.expectGolden(
                ComparisonConsole.render(try JudgedComparison(root)), "compare/console.txt")
            for name in Self.names.dropFirst() { try FileManager.default.removeItem(atPath: "\(root)/\(name)") }
            try ComparisonReport.write(into: root)
            #expect(try Self.names.map(text) == texts)
        }
    }

    @Test("The verdicts are those of the pairs")
    func verdicts() throws {
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root)
            let judged = try JudgedComparison(root)
            #expect(judged.gates.map(\.verdict) == [.regressed, .unchanged])
            #expect(judged.outcome.word == .regressed && judged.record.isFinished)
            #expect(Set(judged.news.map(\.verdict)) == [.shifted, .onlyBase, .onlyHead])
            #expect(judged.rows.contains { $0.merged != nil })
        }
    }

    @Test("An unconfirmed suspicion is on top, with its interval and what would decide it")
    func suspected() throws {
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root, freshPairs: 2)
            let judged = try JudgedComparison(root)
            #expect(judged.gates.map(\.verdict) == [.suspected, .unchanged] && judged.outcome.word == .inconclusive)
            // Two fresh pairs have no interval. Together with those of the screening they do.
            #expect(judged.gates[0].pairs == 10 && judged.gates[0].low != nil)
            let console = ComparisonConsole.render(judged)
            #expect(console.contains(#/\n! interrupted after [0-9]+ pairs: .* and no verdict; --resume goes on\n/#))
            let top = try #require(console.split(separator: "\n").dropFirst(2).first)
            #expect(
                top.hasPrefix("! suspected: slow stillingwell durability=memory write_service_time p50 +8."), "\(top)")
            #expect(top.contains("(95 %: +") && top.contains("its confirmation was not finished"), "\(top)")
            #expect(
                console.contains("1 of 2 gates decided by clocks (50 %); 1 more pair, about 2 s, would decide 1 gate; ")
            )
            #expect(
                console.contains("\ninconclusive: suspected but not confirmed: slow stillingwell (+8."), "\(console)")
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
            }
            let summary = try text("summary.md").components(separatedBy: "**By the clock**")
            #expect(summary.count == 2 && summary[0].contains("**Suspected**, and not confirmed"))
            let page = try text("compare.html").components(separatedBy: "<h2>Gates</h2>")
            #expect(page.count == 2 && page[0].contains("<h2>Suspected, and not confirmed</h2>"))
            #expect(try text("annotations.txt").hasPrefix("::warning title=Tidegauge: suspected::slow stillingwell"))
            #expect(try text("effects.csv").contains(",true,suspected,"))
        }
    }

    @Test("The report says what counts and what clocks cannot show")
    func blindness() throws {
        try Fixture.withFolder { root in
            let report = try ComparisonReport(root, WholeComparison.plan, .fixed)
            try report.add(
                [
                    CountedRow(
                        scenario: "slow", driver: "stillingwell", variant: "durability=memory",
                        metric: .upkeepInstructions, counter: "callgrind", base: 50_000, again: 50_000, head: 60_000)
                ], files: [:])
            #expect(try ComparisonRecord.load(root).isCounting)
            try report.add(uncounted: [])
            #expect(try !ComparisonRecord.load(root).isCounting)
            let judged = try JudgedComparison(root)
            try report.end(judged, exitCode: 130)
            let summary = try String(contentsOfFile: "\(root)/summary.md", encoding: .utf8)
            let page = try String(contentsOfFile: "\(root)/compare.html", encoding: .utf8)
            for text in [ComparisonConsole.render(judged), summary, page] {
                #expect(text.contains("counts do not show waiting") && text.contains("clocks show waiting"))
            }
            // Without a pair, the number of pairs needed is unknown.
            #expect(summary.contains("0 of 2 gates decided by clocks (0 %); 2 gates: too few pairs"))
        }
    }

    @Test("A counted regression is annotated with its role, its change and its first cause")
    func countedAnnotations() throws {
        func row(_ metric: Metric, _ head: Double, causes: [String] = []) -> CountedRow {
            var row = CountedRow(
                scenario: "slow", driver: "stillingwell", variant: "durability=memory", metric: metric,
                counter: "callgrind", base: 50_000, again: 50_000, head: head)
            row.causes = causes.map {
                .init(function: $0, base: 3_100, head: 3_400, baseInclusive: 9_000, headInclusive: 9_400)
            }
            return row
        }
        try Fixture.withFolder { root in
            let report = try ComparisonReport(root, WholeComparison.plan, .fixed)
            try report.add(
                [
                    row(.upkeepInstructions, 60_000, causes: ["walk\n::error::", "other"]),
                    row(.observerInstructions, 51_000), row(.writerInstructions, 40_000),
                ], files: [:])
            let uncounted = OneSided(what: "by time, counted", why: "a fault goes by time")
            try report.add(uncounted: [uncounted])
            try report.end(JudgedComparison(root), exitCode: 130)
            let lines = try String(contentsOfFile: "\(root)/annotations.txt", encoding: .utf8).split(separator: "\n")
            let title = "::error title=Tidegauge: regressed::slow stillingwell durability=memory"
            #expect(
                lines.filter { $0.hasPrefix("::error") } == [
                    "\(title) upkeep_instructions: 50.0k → 60.0k, +20.0 %25, counted; first walk ::error:: +9.68 %25, "
                        + "3100 → 3400 per commit (with what it calls 9000 → 9400)",
                    "\(title) observer_instructions: 50.0k → 51.0k, +2.0 %25, counted",
                ])
            let json = try Data(contentsOf: URL(fileURLWithPath: "\(root)/compare.json"))
            struct Report: Decodable { var uncounted: [OneSided] }
            #expect(try JSONDecoder().decode(Report.self, from: json).uncounted == [uncounted])
        }
    }

    @Test("Nothing in a name becomes markup")
    func hostile() throws {
        try Fixture.withFolder { root in
            try WholeComparison.write(in: root)
            let page = try String(contentsOfFile: "\(root)/compare.html", encoding: .utf8)
            #expect(!page.contains("<script>"))
            let summary = try String(contentsOfFile: "\(root)/summary.md", encoding: .utf8)
            #expect(!summary.contains("<script>") && !summary.contains("@all"))
        }
    }

    @Test("A folder without a comparison, and pairs in another order than the plan's, are refused with the reason")
    func damaged() throws {
        try Fixture.withFolder { root in
            #expect(throws: DamagedReport.self) { try ComparisonRecord.load(root) }
            try WholeComparison.write(in: root)
            let path = "\(root)/\(ComparisonRecord.journalName)"
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            let shuffled = [lines[0]] + lines.dropFirst(2) + [lines[1]]
            try Data((shuffled.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: DamagedReport.self) { try JudgedComparison(root) }
        }
    }

    @Test("A history keeps its breaks, and says which commit they begin with")
    func history() throws {
        try Fixture.withFolder { root in
            let path = "\(root)/history.ndjson"
            var engine = ComparisonEngine(WholeComparison.plan)
            _ = engine.next()
            for position in 1...24 {
                var row = ComparedRow(
                    scenario: "slow", driver: "stillingwell", variant: "",
                    name: FigureName("write_service_time", "p50"),
                    criterion: Criterion(metric: "write_service_time", statistic: "p50"), isGate: true, pairs: 20)
                row.change = (position > 12 ? 0.1 : 0) + 0.001 * Double(position % 5)
                (row.low, row.high, row.head) = (row.change! - 0.01, row.change! + 0.01, 40_000)
                try HistoryFile.append(
                    [
                        HistoryPoint(
                            row, commit: "c\(position)" + String(repeating: "0", count: 12), position: position,
                            anchor: "anchor", machine: "m")
                    ], to: path)
            }
            let series = HistorySeries.all(try HistoryFile.read(path))
            #expect(series.count == 1 && series[0].points.count == 24)
            let broken = try #require(series[0].breaks.first)
            #expect(series[0].breaks.count == 1 && broken.index == 12 && broken.isWorse)
            #expect(abs(broken.change - 0.1) < 0.005)
            let table = HistoryTable.render(series, last: 13) { _ in "subject" }
            #expect(table.contains("── worse by +10.0 % from here on ──\n  c13000000000"))
            try HistoryPage.write(series, to: "\(root)/history.html")
            let page = try String(contentsOfFile: "\(root)/history.html", encoding: .utf8)
            #expect(page.contains("write_service_time p50: worse by +10.0 % at c13000000000"))
        }
    }

    @Test("A calibration says what the machine can see, and is found again")
    func calibration() throws {
        try Fixture.withFolder { root in
            var engine = ComparisonEngine(WholeComparison.plan)
            try WholeComparison.write(in: root + "/c")
            engine = try JudgedComparison(root + "/c").engine
            var calibration = Calibration(machine: MachineKey.current, nulls: [engine, engine])
            calibration.add("spin=5%", [engine])
            #expect(calibration.comparisons == 2 && calibration.falseReds == 2 && calibration.power[0].called == 1)
            #expect(
                calibration.fitness.hasPrefix("can see +") && calibration.fitness.contains("write_service_time p50"))
            let page = try calibration.write(root)
            #expect(FileManager.default.fileExists(atPath: page))
            #expect(Calibration.ofThisMachine(root) == calibration)
            #expect(CalibrationConsole.render(calibration).contains("2 of 2 called something regressed"))
        }
    }
}
