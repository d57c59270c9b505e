// Tests of histogram logs, one of them with HdrHistogram's own tools, if installed (Debian: libhdrhistogram-java and a
// Java).
import Foundation
import Testing
import TidegaugeSpec
import TidegaugeTrial

@testable import TidegaugeMeasure
@testable import TidegaugeReport

@Suite("Histogram logs")
struct HistogramLogTests {
    @Test("A log is as agreed, but for what zlib makes of the samples")
    func text() throws {
        let record = HistogramRecord(
            metric: .endToEndLatency, lengthNs: 2_000_000_000, max: 1_234_567, samples: "SAMPLES", negated: "NEGATED",
            negatedMax: 52_000, bounds: "BOUNDS")
        let trial = TrialKey(scenario: WholeRun.hostile, driver: "stillingwell", variant: "a=1;b=2", trial: 3)
        let text = try HistogramLogs.text([record], of: trial)
        try Fixture.expectGolden(text, "log.hlog")
        let read = try #require(HistogramLogs.read(text))
        #expect(read.trial == trial && read.samples == [.endToEndLatency: .init(text: "SAMPLES", negated: "NEGATED")])
    }

    @Test("File names are safe, and of different trials different")
    func names() {
        func name(_ scenario: String, _ variant: String, _ trial: Int) -> String {
            HistogramLogs.fileName(TrialKey(scenario: scenario, driver: "d", variant: variant, trial: trial))
        }
        #expect(name("commit-latency", "", 0) == "commit-latency.d.0.hlog")
        let long = String(repeating: "x", count: 300)
        let names = [
            name("a", "k=1", 0), name("a", "k=1", 1), name("../../etc/passwd", "", 0), name(WholeRun.hostile, "", 0),
            name("a", long + "1", 0), name("a", long + "2", 0),
        ]
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.utf8.count < 240 && !name.contains("/") && !name.hasPrefix(".")) }
    }

    @Test(
        "HdrHistogram's own log processor finds the same percentiles",
        .enabled("Java or libhdrhistogram-java is not installed") { hdrJar != nil && javaPath != nil })
    func java() throws {
        try Fixture.withFolder { folder in
            var histogram = LatencyHistogram()
            for value in 1...20_000 { histogram.record(Int64(value) * Int64(value) * 13) }
            histogram.recordCensored(90_000_000_000)
            let record = try #require(histogram.record(for: .endToEndLatency, lengthNs: 5_000_000_000))
            let other = HistogramRecord(metric: .lockWait, lengthNs: 5_000_000_000, max: 1, samples: record.samples)
            let trial = TrialKey(scenario: WholeRun.hostile, driver: "stillingwell", variant: "", trial: 0)
            let path = folder + "/log.hlog"
            try Data(HistogramLogs.text([record, other], of: trial).utf8).write(to: URL(fileURLWithPath: path))

            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(javaPath))
            process.arguments = [
                "-cp", try #require(hdrJar), "org.HdrHistogram.HistogramLogProcessor", "-i", path, "-tag",
                "end_to_end_latency", "-outputValueUnitRatio", "1",
            ]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()

            var distribution = ValueDistribution()
            try distribution.add(samples: record.samples)
            let cumulative = distribution.cumulative()
            var compared = 0
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").compactMap { Double($0) }
                // Value, percentile, and number of samples up to it. The last line has no 1/(1−p).
                guard words.count >= 3, !line.hasPrefix("#") else { continue }
                let rank = UInt64((words[1] * Double(distribution.total)).rounded(.up).nextDown.rounded())
                let own = try #require(cumulative.first { $0.samples >= max(1, rank) })
                let at = try #require(
                    cumulative.first { Double($0.value) == words[0] }, "no bucket ends at \(words[0])")
                #expect(Double(at.samples) == words[2], "\(line)")
                #expect(own.value <= at.value && at.samples >= rank, "\(line)")
                compared += 1
            }
            #expect(compared > 50, "\(text)")
            // The same percentiles as in metrics.csv.
            for (statistic, percentile) in [(Statistic.p50, 0.5), (.p90, 0.9)] {
                let line = try #require(
                    text.split(separator: "\n").first { $0.contains(String(format: " %.12f ", percentile)) }, "\(text)")
                let value = try #require(Double(line.split(separator: " ")[0]))
                #expect(Int64(value) == histogram.percentile(statistic)?.value)
            }
        }
    }
}

private let hdrJar = ["hdrhistogram.jar", "HdrHistogram.jar"].map { "/usr/share/java/\($0)" }
    .first { FileManager.default.fileExists(atPath: $0) }
private let javaPath = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/java" }.first { FileManager.default.isExecutableFile(atPath: $0) }
