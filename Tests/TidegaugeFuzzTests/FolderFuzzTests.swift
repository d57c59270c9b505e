// Fuzzes folders of runs and comparisons, and the files beside them: baselines, histories, calibrations.
import Foundation
import StillingWellSeededRandom
import StillingWellTestThreads
import Testing

@testable import TidegaugeCompare
@testable import TidegaugeMeasure
@testable import TidegaugeReport
@testable import TidegaugeScenario
@testable import TidegaugeSpec
@testable import TidegaugeTrial

@Suite("Fuzzing folders", .serialized, .onThreads)
struct FolderFuzzTests {
    /// Separates the files of an input.
    private static let end: UInt8 = 1
    private static let runFiles = [
        Journal.fileName, MetricsCSV.fileName, EnvironmentJSON.fileName, SeriesCSV.fileName, HangReports.fileName,
        "histograms/a.hlog",
    ]
    private static let words = [
        "null", "true", "-1", "0", "1e308", "-1e308", "5e-324", "inf", "nan", "{}", "[]", "\"\"", "\n", ",", "\"", ";",
        "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    ]

    /// Calls `body` with a folder that is removed afterwards.
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/tidegauge-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/histograms", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder + "/baselines", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private static func pack(_ folder: String, _ names: [String]) throws -> [UInt8] {
        let files = try names.map { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")) }
        return Array(files.joined(separator: [end]))
    }

    /// Writes the files of an input. A file that the input does not have is removed.
    private static func unpack(_ bytes: [UInt8], _ folder: String, _ names: [String]) throws {
        let files = bytes.split(separator: end, maxSplits: names.count - 1, omittingEmptySubsequences: false)
        for (place, name) in names.enumerated() {
            let file = URL(fileURLWithPath: "\(folder)/\(name)")
            if files.indices.contains(place) {
                try Data(files[place]).write(to: file)
            } else if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    // MARK: Runs

    private static func spec() throws -> TrialSpec {
        let text = """
            purpose: How does it behave?
            represents: a complaint
            dataset: { items: 10 }
            writers: { rate: 100/s }
            measure: [upkeep_cost, end_to_end_latency]
            gate: upkeep_cost
            duration: 1s
            """
        let scenario = try Scenario.parse(Array(text.utf8), path: "size.yaml", drivers: ["noop"])
        return try #require(try scenario.trials(profile: .ci, drivers: ["noop"]).first)
    }

    private static func environment() -> EnvironmentReport {
        EnvironmentReport(
            commit: "0123abcd", dirty: true, compiler: "Swift", buildConfiguration: "release", countsAllocations: true,
            cpuModel: "CPU", cores: 2, memoryBytes: 8, kernel: "6", architecture: "x86_64", clocksource: "tsc",
            governor: "none", virtualisation: "none", bootID: "b", loadAverage: [0.5], storeFileSystems: ["/": "ext4"],
            pressureBefore: Pressure(involuntarySwitches: 1, voluntarySwitches: 2, majorFaults: 3),
            pressureAfter: Pressure(involuntarySwitches: 7, voluntarySwitches: 8, majorFaults: 9))
    }

    private static func figures(_ cost: Double) -> [Figure] {
        [
            Figure(.upkeepCost, .value, cost, n: 9), Figure(.endToEndLatency, .p99, 7_000, n: 5_000, censored: 8),
            Figure(.upkeepInstructions, .value, 4 * cost, n: 9, flags: [.counted(by: .callgrind)]),
        ]
    }

    /// Writes a run of two trials as a run writes it.
    private static func writeRun(_ root: String) throws -> String {
        var header = RunHeader(paths: ["Scenarios"])
        header.profile = .ci
        let spec = try spec()
        let text =
            "purpose: a\nrepresents: b\ndataset: { items: 10 }\nwriters: { rate: 9/s }\nmeasure: [upkeep_cost]\n"
            + "gate: upkeep_cost\nduration: 1s\n"
        let scenario = try Scenario.parse(Array(text.utf8), path: "size.yaml", drivers: [])
        header.scenarios = [
            ScenarioRecord(
                name: scenario.name, path: scenario.path, purpose: scenario.purpose, represents: scenario.represents,
                sha: scenario.sha256, gate: scenario.gate)
        ]
        header.scenarios[0].name = "size"
        let report = try RunReport(
            root: root, runID: "20260131T120000Z-1a2b3c4d", header: header, environment: environment(),
            formats: [MetricsCSV(), SeriesCSV(), HistogramLogs(), EnvironmentJSON(), HangReports(), Journal()])
        for trial in 0..<2 {
            var spec = spec
            spec.trial = trial
            try report.add(
                RunRow.rows(
                    figures(31_250.75) + [TrialFate.completed.figure], of: spec, runID: report.run.runID,
                    environment: environment()))
            var result = TrialResult(fate: .completed)
            if trial == 0 {
                var histogram = LatencyHistogram()
                for value in 1...50 { histogram.record(Int64(value * value)) }
                result.recordings.histograms = [histogram.record(for: .endToEndLatency, lengthNs: 1_000_000_000)!]
                result.recordings.series = [SeriesRecord(.staleness, .mean, [nil, 1, 2.5])]
                result.hangs = [
                    HangRecord(
                        .deadlock, cycle: ["main>a"], sentence: "'main' waits", afterNs: 112_000_000, isExpected: true,
                        stands: [.init(thread: "main", tid: 7, holds: ["a"], waitsFor: "b", stack: ["f()"])])
                ]
                try report.add(result.recordings, of: TrialKey(spec))
            }
            try report.add(.trial(TrialRecord(result, of: spec)))
        }
        try report.add(.skipped(SkippedRecord(scenario: "size", driver: "noop", reason: "no room")))
        let held = Judgement.Held(Limit(.endToEndLatency, .less, 5), variant: "", bound: 5, value: 8, reason: nil)
        try report.add(
            .judged(Judgement(scenario: "size", driver: "noop", verdict: .broken, text: "p99 < 5 ns", held: held)))
        try report.add(.ended(EndRecord(exitCode: 1)))
        try report.end(environment: environment())
        let folder = report.run.directory
        let logs = try FileManager.default.contentsOfDirectory(atPath: folder + "/histograms")
        try FileManager.default.moveItem(
            atPath: "\(folder)/histograms/\(logs[0])", toPath: "\(folder)/histograms/a.hlog")
        return folder
    }

    @Test("folder: a run makes its pages and goes on, or is refused with its file", arguments: seeds(1))
    func folder(_ seed: UInt64) throws {
        try Self.withFolder { root in
            let good = try Self.writeRun(root)
            let spec = try Self.spec()
            var fuzzer = try Fuzzer("folder", seed: seed, words: Self.words, good: [try Self.pack(good, Self.runFiles)])
            var loaded = 0
            try fuzzer.run(24) { bytes -> String in
                try Self.unpack(bytes, root, Self.runFiles)
                let record: RunRecord
                do {
                    record = try RunRecord.load(root)
                } catch let error as DamagedReport {
                    #expect(error.description.contains(root), "TIDEGAUGE_SEED=\(seed): \(error)")
                    return kind(of: error)
                }
                loaded += 1
                // Makes pages for one loaded input in eight, because they take nearly all of the time.
                if loaded % 8 == 1 {
                    try FinalReports(cell: Setting.cell).write(into: root)
                    _ = try HTMLPair.render(record, record, WeakComparison.rows(base: record, head: record))
                }
                let resumption = try Resumption(root)
                _ = resumption.differences(binary: "", scenarios: record.header.scenarios, trials: [spec])
                try resumption.clean(root)
                _ = try RunRecord.load(root)
                return "\(record.verdict.word) \(record.rows.count) \(record.trials.count) \(record.samples.count)"
            }
        }
    }

    @Test("baseline: a run is held against it, or it is refused with its file", arguments: seeds(1))
    func baseline(_ seed: UInt64) throws {
        try Self.withFolder { root in
            let record = try RunRecord.load(try Self.writeRun(root))
            var then = record
            for place in then.rows.indices { then.rows[place].figure.value? *= 2 }
            let now = RunBaseline(record)
            let good = Array(try JSONLines.text(RunBaseline(then)).utf8)
            let path = RunBaseline.path("last", in: root)
            var fuzzer = try Fuzzer("baseline", seed: seed, words: Self.words, good: [good])
            try fuzzer.run(500) { bytes -> String in
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                let kept: RunBaseline.Kept
                do {
                    kept = try #require(try RunBaseline.read("last", in: root))
                } catch let error as DamagedReport {
                    #expect(error.description.contains(path))
                    return kind(of: error)
                }
                let comparison = BaselineComparison(now, since: kept, name: "last")
                // The comparison must be encodable in the journal.
                _ = try RunEvent.compared(comparison).line()
                return (comparison.summary + comparison.details).map { kind(of: $0) }.joined()
            }
        }
    }

    @Test("history: points make series and a page, or are refused with their line", arguments: seeds(1))
    func history(_ seed: UInt64) throws {
        try Self.withFolder { root in
            let path = "\(root)/\(HistoryFile.fileName)"
            let name = FigureName("upkeep_instructions", "value")
            let row = ComparedRow(
                scenario: "size", driver: "noop", variant: "", name: name, criterion: Criterion(name), isGate: true,
                pairs: 3)
            let points = (0..<12).map { number -> HistoryPoint in
                var point = HistoryPoint(
                    row, commit: "c\(number)", position: number, anchor: "a", machine: "m")
                point.logRatio = number < 6 ? 0.01 * Double(number % 2) : 1
                (point.low, point.high, point.value) = (point.logRatio - 0.1, point.logRatio + 0.1, 50)
                return point
            }
            let good = Array(try points.map { try JSONLines.text($0) }.joined().utf8)
            var fuzzer = try Fuzzer("history", seed: seed, words: Self.words, good: [good])
            try fuzzer.run(30) { bytes -> String in
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                do {
                    let all = HistorySeries.all(try HistoryFile.read(path).filter { $0.anchor == "a" })
                    let table = HistoryTable.render(all, last: 10) { $0 }
                    try HistoryPage.write(all, to: "\(root)/history.html")
                    return "\(all.map(\.breaks.count)) \(min(table.count / 64, 16))"
                } catch let error as DamagedReport {
                    #expect(error.description.contains(path))
                    return kind(of: error)
                }
            }
        }
    }

    // MARK: Comparisons

    private static func plan() throws -> ComparisonPlan {
        let subject = ComparedSubject(
            scenario: "size", driver: "noop", purpose: "Is it slower?", gate: "end_to_end_latency", statistic: "p50",
            points: [try spec()])
        let side = ComparedSide(name: "HEAD", commit: "aa", executable: "/b", fingerprint: "1")
        return ComparisonPlan(
            base: side, head: side, subjects: [subject], oneSided: [OneSided(what: "old", why: "only the base has it")],
            pairs: 3, seed: 5, resamples: 10)
    }

    private static func side(_ value: Double) -> SideTrial {
        var histogram = LatencyHistogram()
        for sample in 1...20 { histogram.record(Int64(value) + Int64(sample * sample)) }
        return SideTrial(
            fate: .completed,
            values: [
                .init(FigureName("end_to_end_latency", "p50"), value),
                .init(FigureName("end_to_end_latency", "p99"), value),
            ],
            samples: [histogram.record(for: .endToEndLatency, lengthNs: 1)!],
            noise: NoiseAccount(stealShare: 0.001, hiccupP99Ns: 150_000), dueCommits: 400)
    }

    private static func pair(_ due: ComparisonEngine.Assignment) -> PairRecord {
        PairRecord(
            subject: due.subject, number: due.number, stage: due.stage, atSeconds: 1, lengthSeconds: 1.5,
            points: [
                PointPair(
                    variant: "", headFirst: due.headFirst[0], base: side(40_000),
                    head: side(50_000 + Double(due.number)))
            ])
    }

    @Test("comparison: pairs are judged and make a page, or are refused with their file", arguments: seeds(1))
    func comparison(_ seed: UInt64) throws {
        let names = [ComparisonRecord.journalName, EnvironmentJSON.fileName]
        try Self.withFolder { root in
            let plan = try Self.plan()
            let report = try ComparisonReport(root, plan, Self.environment())
            let counted = CountedRow(
                scenario: "size", driver: "noop", variant: "", metric: .upkeepInstructions, counter: "callgrind",
                base: 50_000, again: 50_000, head: 60_000)
            try report.add([counted], files: [:])
            try report.add(uncounted: [])
            var engine = ComparisonEngine(plan, counted: [counted])
            while let due = engine.next(), engine.tracks[0].attempts < 4 {
                try report.add(Self.pair(due))
                engine.take(Self.pair(due))
            }
            try report.end(JudgedComparison(root), exitCode: 130)
            var fuzzer = try Fuzzer("comparison", seed: seed, words: Self.words, good: [try Self.pack(root, names)])
            try fuzzer.run(12) { bytes -> String in
                try Self.unpack(bytes, root, names)
                do {
                    let judged = try JudgedComparison(root)
                    try ComparisonReport.write(into: root)
                    return kind(of: ComparisonConsole.render(judged))
                } catch let error as DamagedReport {
                    #expect(error.description.contains(names[0]) || error.description.contains(names[1]))
                    return kind(of: error)
                }
            }
        }
    }

    @Test("calibration: a machine's file makes its page, and a journal is gone on with", arguments: seeds(1))
    func calibration(_ seed: UInt64) throws {
        try Self.withFolder { root in
            let plan = try Self.plan()
            let journal = try CalibrationJournal(root, .init(plan: plan, comparisons: 1, power: 1, flaws: ["slow"]))
            var engine = ComparisonEngine(plan)
            while let due = engine.next(), engine.tracks[0].attempts < 3 {
                try journal.add(Self.pair(due), kind: "null", number: 0)
                engine.take(Self.pair(due))
            }
            _ = try Calibration(nulls: [engine]).write(root)
            let names = [Calibration.path(root), CalibrationJournal.path(root)].map {
                String($0.dropFirst(root.count + 1))
            }
            var fuzzer = try Fuzzer("calibration", seed: seed, words: Self.words, good: [try Self.pack(root, names)])
            try fuzzer.run(30) { bytes -> String in
                try Self.unpack(bytes, root, names)
                let known = Calibration.ofThisMachine(root)
                let page = try known.map { try CalibrationPage.render($0) + $0.fitness }
                do {
                    let journal = try CalibrationJournal(resuming: root)
                    let engine = try journal.engine(journal.work.plan, kind: "null", number: 0)
                    return "\(page == nil) \(engine.tracks.map(\.attempts))"
                } catch let error as DamagedReport {
                    return "\(page == nil) " + kind(of: error)
                }
            }
        }
    }
}
