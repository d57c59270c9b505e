// The gates of a run (figures by which commits are compared) for github-action-benchmark and Bencher. Like
// `TrackerJSON` of a comparison, but with each point separately and the range of its repetitions. Pure.
import TidegaugeCompare
import TidegaugeSpec
import TidegaugeStatistics

extension TrackerJSON {
    /// A gate at one point, with the values of all trials.
    private struct Tracked {
        var place: String
        var metric: Metric
        var statistic: Statistic
        var values: [Double]

        var median: Double { TidegaugeStatistics.median(values)! }
        var name: String { metric.rawValue + (statistic == .value ? "" : " \(statistic.rawValue)") }
    }

    static func actionBenchmark(_ record: RunRecord) throws -> String {
        try encoded(
            tracked(record).map { point in
                let half = (point.values.max()! - point.values.min()!) / 2
                return Entry(
                    name: "\(point.place)/\(point.name)", unit: point.metric.unit, value: point.median,
                    range: point.values.count > 1 ? "± " + Humanised.text(half, unit: point.metric.unit) : "",
                    extra: Humanised.count(point.values.count, "trial"))
            })
    }

    static func bencher(_ record: RunRecord) throws -> String {
        var benchmarks: [String: [String: Measure]] = [:]
        for point in tracked(record) {
            let isRepeated = point.values.count > 1
            benchmarks[point.place, default: [:]][point.name.replacing(" ", with: "_")] = Measure(
                value: point.median, lower_value: isRepeated ? point.values.min() : nil,
                upper_value: isRepeated ? point.values.max() : nil)
        }
        return try encoded(benchmarks)
    }

    /// Gates for which less is better: the files do not state a direction.
    private static func tracked(_ record: RunRecord) -> [Tracked] {
        record.scenarioNames.flatMap { name -> [Tracked] in
            guard let metric = record.scenario(name)?.gate,
                let statistic = Statistic(rawValue: metric.defaultStatistic),
                Criterion(metric: metric.rawValue, statistic: statistic.rawValue).worse == .more
            else { return [] }
            let rows = record.rows.filter {
                $0.scenario == name && $0.figure.metric == metric && $0.figure.statistic == statistic
                    && $0.figure.value != nil
            }
            return Digest.inOrder(rows.map(place)).map { place in
                Tracked(
                    place: place, metric: metric, statistic: statistic,
                    values: rows.filter { self.place($0) == place }.compactMap(\.figure.value))
            }
        }
    }

    /// Name of a point; for a figure over the sweep, with its `Digest.place`.
    private static func place(_ row: RunRow) -> String {
        ([row.scenario, row.driver, row.variant] + Digest.place(row.figure)).filter { !$0.isEmpty }
            .joined(separator: "/")
    }
}
