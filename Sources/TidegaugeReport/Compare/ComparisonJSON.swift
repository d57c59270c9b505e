// compare.json, and the gates (figures by which commits are compared) in the formats of two services that track
// benchmarks. Keys are sorted, missing values omitted. Pure.
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
        /// Points that were not counted, or not completely, with the reason.
        var uncounted: [OneSided]
        var voids: [JudgedComparison.VoidPair]
        var failures: [JudgedComparison.Failure]
        var oneSided: [OneSided]
        /// Subjects without measured times; only for comparisons by counts only.
        var unmeasured: [String]?
        var environment: EnvironmentReport
    }

    /// A counted figure with its derived values.
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

/// The head's gates for services that plot figures over commits. Includes only gates for which less is better, because
/// the files do not state a direction.
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

    /// Renders the `customSmallerIsBetter` format of github-action-benchmark: an array of name, unit, value, range
    /// and extra.
    static func actionBenchmark(_ judged: JudgedComparison) throws -> String {
        try encoded(
            tracked(judged).map { row in
                Entry(
                    name: name(row), unit: row.unit, value: row.head!,
                    range: row.detectable.map { "± " + Humanised.text(scale(row) * $0, unit: row.unit) } ?? "",
                    extra: "\(row.verdict.rawValue) against \(judged.record.plan.base.label)")
            })
    }

    /// Renders the Bencher Metric Format: benchmark, measure, value with bounds.
    static func bencher(_ judged: JudgedComparison) throws -> String {
        var benchmarks: [String: [String: Measure]] = [:]
        for row in tracked(judged) {
            // Half of the effect's interval, applied around the head's value.
            let half = row.low.flatMap { low in row.high.map { ($0 - low) / 2 * scale(row) } }
            benchmarks["\(row.scenario)/\(row.driver)", default: [:]][row.name.description.replacing(" ", with: "_")] =
                Measure(
                    value: row.head!, lower_value: half.map { row.head! - $0 }, upper_value: half.map { row.head! + $0 }
                )
        }
        return try encoded(benchmarks)
    }

    /// Factor that converts a change of the row to its unit.
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
