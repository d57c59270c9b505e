// report.json: the run as one JSON object. Keys are sorted; missing values of figures are null. Pure.
import Foundation
import TidegaugeMeasure
import TidegaugeTrial

enum ReportJSON {
    static let schemaVersion = 1

    private struct Report: Encodable {
        let schemaVersion = ReportJSON.schemaVersion
        var runID: String
        var verdict: String
        var run: RunHeader
        var environment: EnvironmentReport
        var points: [Point]
        var trials: [TrialRecord]
        var skipped: [SkippedRecord]
        var limits: [Judgement]
    }

    /// The figures of one trial, or over a sweep (`variant` is `*`).
    private struct Point: Encodable {
        var scenario: String
        var driver: String
        var variant: String
        var trial: Int
        var seed: UInt64
        var metrics: [String: MetricFigures]
        /// For figures over a sweep of several keys: the key that the figures vary, and the values of the other keys.
        /// Each combination has its own `Point`.
        var place: String?
    }

    private struct MetricFigures: Encodable {
        var unit: String
        var n: Int
        var censored: Int
        var values: [String: Double?]
        var flags: [String: [String]] = [:]
    }

    static func render(_ record: RunRecord) throws -> String {
        let report = Report(
            runID: record.runID, verdict: record.verdict.word, run: record.header, environment: record.environment,
            points: points(record.rows), trials: record.trials, skipped: record.skipped, limits: record.judgements)
        return try JSONLines.text(report)
    }

    private struct PointKey: Hashable {
        var trial: TrialKey
        var place: String?
    }

    private static func points(_ rows: [RunRow]) -> [Point] {
        let keys = rows.map { PointKey(trial: TrialKey($0), place: place($0)) }
        let groups = Dictionary(grouping: zip(keys, rows), by: \.0)
        return Digest.inOrder(keys).map { key in
            let rows = groups[key, default: []].map(\.1)
            let metrics = Dictionary(grouping: rows, by: \.figure.metric.rawValue).mapValues { metricFigures($0) }
            return Point(
                scenario: key.trial.scenario, driver: key.trial.driver, variant: key.trial.variant,
                trial: key.trial.trial, seed: rows[0].seed, metrics: metrics, place: key.place)
        }
    }

    private static func place(_ row: RunRow) -> String? {
        guard row.variant == RunRow.overSweep else { return nil }
        let words = row.figure.flags.filter(\.isPlace).map(\.text)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    private static func metricFigures(_ rows: [RunRow]) -> MetricFigures {
        let first = rows[0].figure
        var figures = MetricFigures(
            unit: first.metric.unit, n: first.n, censored: first.censored, values: [:], flags: [:])
        for row in rows {
            let figure = row.figure
            let value = figure.value.flatMap { $0.isFinite ? $0 : nil }
            figures.values.updateValue(value, forKey: figure.statistic.rawValue)
            if !figure.flags.isEmpty { figures.flags[figure.statistic.rawValue] = figure.flags.map(\.text) }
        }
        return figures
    }
}
