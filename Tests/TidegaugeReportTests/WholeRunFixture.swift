// A run with special cases of the formats, written like a real run.
import Foundation
import TidegaugeMeasure
import TidegaugeScenario
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeReport

enum WholeRun {
    /// Characters that are special in some format.
    static let hostile = "a,\"b\"\n<script>alert('x')</script>]]>|`*_@all\u{1}\u{1B}\u{202E}; --"
    static let runID = "20260131T120000Z-1a2b3c4d"

    static var header: RunHeader {
        var header = RunHeader(paths: ["Scenarios"])
        header.profile = .smoke
        header.drivers = ["stillingwell", "noop"]
        header.overrides = ["repeat=2"]
        header.binary = "1a2b3c4d-100"
        header.scenarios = [
            scenario("result-size", "dataset: { items: 10 }", gate: "upkeep_cost"),
            scenario("rate-sweep", "dataset: { items: 10 }", gate: "end_to_end_latency"),
        ]
        header.scenarios.append(header.scenarios[0])
        header.scenarios[2].name = "lock-order"
        header.scenarios[2].gate = .interleavingTestTime
        header.scenarios[1].name = hostile
        header.scenarios[1].purpose = "Is \(hostile) safe?"
        return header
    }

    private static func scenario(_ name: String, _ body: String, gate: String) -> ScenarioRecord {
        let text = """
            purpose: How does \(name) behave?
            represents: a complaint
            \(body)
            observers: { count: 1 }
            writers: { rate: 100/s }
            measure: [upkeep_cost, end_to_end_latency]
            gate: \(gate)
            duration: 1s
            """
        let scenario = try! Scenario.parse(Array(text.utf8), path: "\(name).yaml", drivers: [])
        return ScenarioRecord(
            name: scenario.name, path: scenario.path, purpose: scenario.purpose, represents: scenario.represents,
            sha: scenario.sha256, gate: scenario.gate)
    }

    /// A comparison with worse counts and slower times.
    static var compared: BaselineComparison {
        BaselineComparison(
            name: "last", runID: "20260130T120000Z-0f0e0d0c", counts: 3, clocks: 2,
            worse: [
                .init(
                    what: "\(hostile) stillingwell writers.rate=100/s writer_instructions", metric: .writerInstructions,
                    then: 50_000, now: 56_500)
            ],
            slower: [
                .init(
                    what: "result-size stillingwell dataset.items=1000 upkeep_cost", metric: .upkeepCost, then: 20_000,
                    now: 31_250.75)
            ])
    }

    static func spec(_ scenario: String, _ driver: String, _ variant: String, _ trial: Int = 0) -> TrialSpec {
        var spec = TrialSpecFixture.spec
        (spec.scenario, spec.driver, spec.variant, spec.trial) = (scenario, driver, variant, trial)
        spec.durationNs = 2_000_000_000
        return spec
    }

    static func recordings(_ factor: Int64) -> TrialRecordings {
        var histogram = LatencyHistogram()
        for value in 1...5_000 { histogram.record(Int64(value * value / 100) * factor) }
        var recordings = TrialRecordings()
        recordings.histograms = [histogram.record(for: .endToEndLatency, lengthNs: 2_000_000_000)!]
        let steps = (0..<8).map { Double($0 * 1_000) * Double(factor) }
        recordings.series = [
            SeriesRecord(.staleness, .mean, [nil] + steps.map { $0 / 3 }), SeriesRecord(.staleness, .max, steps),
        ]
        recordings.trace = [
            TraceSpan(name: "commit", thread: "writer-0", startNs: 1_500, lengthNs: 2_000, version: 7),
            TraceSpan(name: hostile, thread: "observer-0", startNs: 3_000, lengthNs: 10, version: 7),
        ]
        return recordings
    }

    /// Writes the run into `root/runID`.
    static func write(in root: String, ends: Bool = true) throws {
        let report = try RunReport(
            root: root, runID: runID, header: header, environment: .ofARun,
            formats: [
                MetricsCSV(), SeriesCSV(), HistogramLogs(), EnvironmentJSON(), ChromeTrace(), Journal(),
                FinalReports(cell: Setting.cell),
            ])
        func add(_ spec: TrialSpec, _ figures: [Figure], _ fate: TrialFate, notes: [String] = []) throws {
            try report.add(
                RunRow.rows(figures + [fate.figure], of: spec, runID: runID, environment: .ofARun))
            if fate == .completed { try report.add(recordings(spec.driver == "noop" ? 1 : 40), of: TrialKey(spec)) }
            var record = TrialRecord(TrialResult(fate: fate, notes: notes), of: spec)
            record.processCPUPerCommitNs = 12.5
            try report.add(.trial(record))
        }
        for (items, cost) in [(1_000, 31_250.75), (100_000, 29_000)] {
            let spec = spec("result-size", "stillingwell", "dataset.items=\(items)")
            try add(spec, [Figure(.upkeepCost, .value, cost, n: 4_000)], .completed)
        }
        var sweep = spec("result-size", "stillingwell", "*")
        sweep.trial = 0
        try report.add(
            RunRow.rows(
                [Figure(.upkeepExponent, .value, -0.0162, n: 2)], of: sweep, runID: runID, environment: .ofARun))
        for (driver, latency) in [("stillingwell", 812_000.0), ("noop", 20_300)] {
            let figures = [
                Figure(.endToEndLatency, .p50, latency, n: 5_000),
                Figure(.endToEndLatency, .p99_9, nil, n: 5_000, censored: 3),
                Figure(.missedFinal, .value, 0, n: 1),
            ]
            try add(spec(hostile, driver, "writers.rate=100/s"), figures, .completed)
        }
        try report.addInterleavingTest()
        try add(
            spec(hostile, "stillingwell", "writers.rate=1000/s"), [], .crashed(signal: "SIGSEGV"),
            notes: ["at \(hostile)"]
        )
        try report.add(.skipped(SkippedRecord(scenario: "result-size", driver: "noop", reason: "no \(hostile)")))
        for (driver, verdict) in [("stillingwell", Judgement.Verdict.broken), ("noop", .unknown), ("noop", .kept)] {
            let held = Judgement.Held(
                Limit(.endToEndLatency, .less, 500_000), variant: "writers.rate=100/s",
                bound: verdict == .unknown ? nil : 500_000, value: 812_000,
                reason: verdict == .unknown ? "the yardstick \(hostile) was not taken" : nil)
            try report.add(
                .judged(
                    Judgement(
                        scenario: hostile, driver: driver, verdict: verdict, text: "\(driver): p50 < 5 ns: <9>",
                        held: held)))
        }
        guard ends else { return }
        try report.add(.ended(EndRecord(exitCode: 70)))
        try report.add(.compared(compared))
        try report.end(environment: .ofARun)
    }
}

extension RunReport {
    /// Adds an interleaving test that one engine completes. A flawed one hangs in it, as expected.
    fileprivate func addInterleavingTest() throws {
        for (driver, metric) in [("stillingwell", Metric.interleavingTestTime), ("flawed", .hangDetectionTime)] {
            var spec = WholeRun.spec("lock-order", driver, "")
            let play = #"{"actors": [], "endings": {"flawed": "deadlock"}, "cycle": []}"#
            spec.interleaving = try JSONDecoder().decode(InterleavingSpec.self, from: Data(play.utf8))
            let figures = [Figure(metric, .value, 9_610_000, n: 1), TrialFate.completed.figure]
            try add(RunRow.rows(figures, of: spec, runID: WholeRun.runID, environment: .ofARun))
            var result = TrialResult(fate: .completed)
            if driver == "flawed" {
                result.hangs = [
                    HangRecord(
                        .deadlock, cycle: ["main>\(WholeRun.hostile)"],
                        sentence: "'main' waits for \(WholeRun.hostile)",
                        afterNs: 112_000_000, isExpected: true,
                        stands: [.init(thread: "main", tid: 7, holds: ["a lock"], waitsFor: "another", stack: ["f()"])])
                ]
            }
            try add(.trial(TrialRecord(result, of: spec)))
        }
    }
}
