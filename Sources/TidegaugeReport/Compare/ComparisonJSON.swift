// compare.json, and the gates in the formats of two services that keep benchmarks over time. Keys sorted; what has no value
// is not there. Pure.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec

enum ComparisonJSON {
    private struct Report: Encodable {
        let schemaVersion = 1
        var verdict: String
        var base: ComparedSide
        var head: ComparedSide
        var profile: String
        var pairs: Int
        var seconds: Double
        var rows: [ComparedRow]
        var counted: [JudgedCount]
        /// What has no counted form, and why.
        var uncounted: [OneSided]
        var voids: [JudgedComparison.VoidPair]
        var failures: [JudgedComparison.Failure]
        var oneSided: [OneSided]
        /// Subjects whose clocks were not asked; only of comparisons by counts alone.
        var unmeasured: [String]?
        var environment: EnvironmentReport
    }

    /// A counted figure with what follows from it.
    private struct JudgedCount: Encodable {
        private enum Key: String, CodingKey {
            case change, verdict
        }

        let row: CountedRow

        func encode(to encoder: any Encoder) throws {
            try row.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encodeIfPresent(row.change, forKey: .change)
            try container.encode(row.verdict, forKey: .verdict)
        }
    }

    static func render(_ judged: JudgedComparison) throws -> String {
        let plan = judged.record.plan
        let report = Report(
            verdict: judged.outcome.word.rawValue, base: plan.base, head: plan.head, profile: plan.profile.rawValue,
            pairs: plan.pairs, seconds: judged.engine.spentSeconds, rows: judged.rows,
            counted: judged.record.counted.map { JudgedCount(row: $0) }, uncounted: judged.record.uncounted,
            voids: judged.voids, failures: judged.failures, oneSided: plan.oneSided,
            unmeasured: plan.isCountedOnly ? judged.unmeasured : nil,
            environment: judged.record.environment)
        return try JSONLines.text(report)
    }
}

/// The head's gates for services that draw curves over commits. Only gates where less is better: both take one direction for
/// a file.
enum TrackerJSON {
    static let actionBenchmarkName = "github-action-benchmark.json"
    static let bencherName = "bencher.json"

    struct Entry: Encodable {
        var name: String
        var unit: String
        var value: Double
        var range: String
        var extra: String
    }

    struct Measure: Encodable {
        var value: Double
        var lower_value: Double?
        var upper_value: Double?
    }

    /// `customSmallerIsBetter` of github-action-benchmark: an array of name, unit, value, range and extra.
    static func actionBenchmark(_ judged: JudgedComparison) throws -> String {
        try encoded(
            tracked(judged).map { row in
                Entry(
                    name: name(row), unit: row.unit, value: row.head!,
                    range: row.detectable.map { "± " + Humanised.text(scale(row) * $0, unit: row.unit) } ?? "",
                    extra: "\(row.verdict.rawValue) against \(judged.record.plan.base.label)")
            })
    }

    /// Bencher Metric Format: benchmark, measure, value with bounds.
    static func bencher(_ judged: JudgedComparison) throws -> String {
        var benchmarks: [String: [String: Measure]] = [:]
        for row in tracked(judged) {
            // What the effect's interval leaves of the head's own value, around it.
            let half = row.low.flatMap { low in row.high.map { ($0 - low) / 2 * scale(row) } }
            benchmarks["\(row.scenario)/\(row.driver)", default: [:]][row.name.description.replacing(" ", with: "_")] =
                Measure(
                    value: row.head!, lower_value: half.map { row.head! - $0 }, upper_value: half.map { row.head! + $0 }
                )
        }
        return try encoded(benchmarks)
    }

    /// What makes a change of the row one in its unit.
    private static func scale(_ row: ComparedRow) -> Double { row.isDifference ? 1 : row.head! }

    private static func tracked(_ judged: JudgedComparison) -> [ComparedRow] {
        judged.gates.filter { row in
            row.head != nil && Criterion(metric: row.name.metric, statistic: row.name.statistic).worse == .more
        }
    }

    private static func name(_ row: ComparedRow) -> String { "\(row.scenario)/\(row.driver)/\(row.name)" }

    static func encoded(_ value: some Encodable) throws -> String {
        try JSONFile.text(value, isPretty: true) + "\n"
    }
}
