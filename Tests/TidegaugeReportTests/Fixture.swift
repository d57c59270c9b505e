import Foundation
import Testing
import TidegaugeSpec

@testable import TidegaugeMeasure
@testable import TidegaugeReport

/// Rows with special cases of the formats: bounds, missing values, quotes, fates, figures over the sweep.
enum Fixture {
    static func row(
        _ figure: Figure, scenario: String = "commit-latency", driver: String = "stillingwell", variant: String = "",
        trial: Int = 0
    ) -> RunRow {
        RunRow(
            runID: "20260131T120000Z-1a2b3c4d", commit: "0123abcd", dirty: true, scenario: scenario,
            scenarioSHA: "ffee", driver: driver, variant: variant, trial: trial, seed: 18_446_744_073_709_551_615,
            figure: figure)
    }

    static var rows: [RunRow] {
        let small = "dataset.items=1000;observers.count=10"
        let large = "dataset.items=100000;observers.count=10"
        let result = { (figure: Figure, variant: String, trial: Int) in
            row(figure, scenario: "result-size", variant: variant, trial: trial)
        }
        return [
            row(Figure(.writeServiceTime, .p50, 12_345.4, n: 5_000)),
            row(Figure(.endToEndLatency, .p50, 999_700, n: 5_000)),
            row(Figure(.endToEndLatency, .p99, 7_000_000_123, n: 5_000, censored: 80, flags: [.atLeast])),
            row(Figure(.endToEndLatency, .p99_99, nil, n: 5_000, censored: 80)),
            row(Figure(.coalescingRatio, .value, 1.25, n: 4_000)),
            row(Figure(.missedFinal, .value, 0, n: 1)),
            row(Figure(.harnessCost, .value, 812.5, n: 5_000), driver: "noop"),
            row(TrialFate.completed.figure),
            result(Figure(.upkeepCost, .value, 31_250.75, n: 4_000), small, 0),
            result(Figure(.upkeepCost, .value, 29_000, n: 4_000, flags: [.notSteady, .atFloor]), small, 1),
            result(Figure(.upkeepCost, .value, -40, n: 4_000), large, 0),
            result(TrialFate.completed.figure, small, 0),
            result(TrialFate.completed.figure, small, 1),
            result(TrialFate.completed.figure, large, 0),
            result(TrialFate.crashed(signal: "SIGSEGV").figure, large, 1),
            result(TrialFate.harnessFault(reason: "no room in \"/tmp\";\n3 files").figure, large, 2),
            result(Figure(.upkeepExponent, .value, 0.0421, n: 4), RunRow.overSweep, 0),
            result(
                Figure(
                    .fanoutCost, .low, 1_200, n: 4,
                    flags: [.over(key: "observers.count"), .at(point: "observers.queries=same")]),
                RunRow.overSweep, 0),
        ]
    }

    static let environment = EnvironmentReport.fixed

    /// Compares with `Golden/name`, line by line. With `TIDEGAUGE_UPDATE_GOLDEN=1` writes the file first.
    static func expectGolden(_ text: String, _ name: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Golden/\(name)")
        if ProcessInfo.processInfo.environment["TIDEGAUGE_UPDATE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let golden = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let goldenLines = golden.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, goldenLine) in zip(lines, goldenLines) { #expect(line == goldenLine) }
        #expect(lines.count == goldenLines.count)
    }

    /// Runs `body` with a folder that is removed afterwards.
    static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "tidegauge-report-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }
}

extension YardstickReading {
    /// A reading taken twice. The second one failed if `afterNs` is nil.
    static func fixed(_ beforeNs: Double, _ afterNs: Double?) -> YardstickReading {
        struct Failure: Error, CustomStringConvertible { let description = "no <room>" }
        var reading = YardstickReading { beforeNs }
        reading.end { if let afterNs { afterNs } else { throw Failure() } }
        return reading
    }
}

extension EnvironmentReport {
    /// The environment of a run, which checks the load before its first trial.
    static let ofARun = {
        var environment = fixed
        environment.startLoad = StartLoad(busyShareAtFirst: 0.92, busyShare: 0.12, waitedNs: 8_000_000_000)
        environment.yardsticks = [
            .rawCommit: .fixed(3_600, 3_700), .twoWakes: .fixed(10_000, 20_000), .memoryWalk: .fixed(8_200, nil),
        ]
        return environment
    }()

    /// An environment that is the same on every machine.
    static let fixed = EnvironmentReport(
        commit: "0123abcd", dirty: true, compiler: "Swift 6.1", buildConfiguration: "release", countsAllocations: true,
        cpuModel: "Some CPU", cores: 2, memoryBytes: 8_000_000_000, kernel: "6.1.0", architecture: "x86_64",
        clocksource: "tsc", governor: "none", virtualisation: "none", bootID: "b00t", loadAverage: [0.5, 0.25, 0.125],
        storeFileSystems: ["/var/tmp": "ext4"],
        pressureBefore: Pressure(involuntarySwitches: 1, voluntarySwitches: 2, majorFaults: 3),
        pressureAfter: Pressure(
            stealNs: 10, cpuSomeNs: 20, memorySomeNs: 30, memoryFullNs: 40, ioSomeNs: 50, ioFullNs: 60,
            involuntarySwitches: 7, voluntarySwitches: 8, majorFaults: 9))
}
