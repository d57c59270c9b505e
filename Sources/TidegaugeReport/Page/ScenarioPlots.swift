// Selects the plots of a scenario by what was measured: percentiles, dependence on a swept key, staleness over time.
// Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

struct ScenarioPlots {
    let scenario: String
    let record: RunRecord
    private let rows: [RunRow]
    private let points: [Digest.Point]

    init(_ scenario: String, _ record: RunRecord) {
        (self.scenario, self.record) = (scenario, record)
        rows = record.rows.filter { $0.scenario == scenario }
        let perTrial = rows.filter { $0.variant != RunRow.overSweep }
        points = Digest.inOrder(perTrial.map(\.point))
    }

    func plots() -> [Plot] { ([spectrum()] + sweeps() + [stalenessOverTime()]).compactMap { $0?.drawable() } }

    /// At most as many points of an engine as there are patterns of lines, evenly spread over the sweep.
    private var shownPoints: [Digest.Point] {
        let variants = Digest.inOrder(points.map(\.variant))
        let drivers = max(1, Digest.inOrder(points.map(\.driver)).count)
        let perDriver = min(Plot.dashes, max(1, Plot.slots / drivers))
        guard variants.count > perDriver || points.count > Plot.slots else { return points }
        let step = Double(max(variants.count - 1, 1)) / Double(max(perDriver - 1, 1))
        let shown = Set((0..<perDriver).map { variants[min(variants.count - 1, Int((Double($0) * step).rounded()))] })
        return Array(points.filter { shown.contains($0.variant) }.prefix(Plot.slots))
    }

    /// The driver and the keys that differ between points.
    private func label(_ point: Digest.Point) -> String {
        let variants = Digest.inOrder(points.map(\.variant))
        let constant = Digest.constant(variants)
        let keys = variants.count > 1 ? Digest.settings(point.variant).filter { !constant.contains($0) } : []
        return ([point.driver] + keys).joined(separator: " ")
    }

    /// A curve of a point: its colour is that of the driver, its pattern that of the point of the sweep.
    private func series(
        _ point: Digest.Point, _ slot: Int, label: String?, _ style: Plot.Style, _ values: [Plot.Point]
    ) -> Plot.Series {
        let shown = shownPoints
        let drivers = Digest.inOrder(shown.map(\.driver)), variants = Digest.inOrder(shown.map(\.variant))
        let (driver, variant) = (drivers.firstIndex(of: point.driver)!, variants.firstIndex(of: point.variant)!)
        return Plot.Series(label, slot, colour: driver + 1, dash: variant % Plot.dashes, style, values)
    }

    /// Addition to a caption if curves are left out.
    static func more(_ count: Int) -> String {
        count > 0 ? " There \(count == 1 ? "is" : "are") \(count) more, in the table alone." : ""
    }

    // MARK: Percentiles

    /// Metric of the percentile plot: the gate if its samples were recorded, else the recorded latency closest to the
    /// user, else any recorded metric.
    private var spectrumMetric: Metric? {
        let recorded = Set(record.samples.filter { $0.key.scenario == scenario }.flatMap { $0.value.keys })
        let preferred =
            [record.scenario(scenario)?.gate].compactMap { $0 }
            + [.endToEndLatency, .deliveryLatency, .writeServiceTime] + Metric.allCases
        return preferred.first { recorded.contains($0) }
    }

    private func spectrum() -> Plot? {
        guard let metric = spectrumMetric else { return nil }
        let series = shownPoints.enumerated().map { index, point in
            self.series(point, index + 1, label: label(point), .line, spectrum(metric, point))
        }
        return Plot(
            title: "\(metric.rawValue) by percentile",
            caption: "Over all trials. A curve ends where fewer than ten samples lie beyond it"
                + (metric.entry.mayBeNegative ? ", and begins where times are above zero." : ".")
                + Self.more(points.count - series.count), xLabel: "percentile (%)",
            yLabel: metric.rawValue.replacing("_", with: " "), x: .percentile, y: .seconds(isLogarithmic: true),
            series: series)
    }

    private func spectrum(_ metric: Metric, _ point: Digest.Point) -> [Plot.Point] {
        var distribution = ValueDistribution()
        for (trial, samples) in record.samples
        where trial.scenario == scenario && trial.driver == point.driver && trial.variant == point.variant {
            if let own = samples[metric] { try? distribution.add(samples: own.text, negated: own.negated) }
        }
        let total = Double(distribution.total)
        var points: [Plot.Point] = []
        var before = 0.0
        for (value, seen) in distribution.cumulative() {
            // This value is the quantile from the samples below it up to its own rank.
            let from = total / (total - before)
            before = Double(seen)
            let until = min(total / max(total - before, 1), total / 10)
            guard until >= from else { break }
            // A logarithmic axis cannot show negative values.
            if value < 0 { continue }
            let y = Double(max(value, 1)) / 1e9
            // Keeps about 80 points per decade, more than a plot can resolve.
            if let last = points.last, until < last.x * 1.03 { continue }
            points.append(Plot.Point(max(from, 1), y))
            if until > from * 1.03 { points.append(Plot.Point(until, y)) }
        }
        return points
    }

    // MARK: Over time

    private func stalenessOverTime() -> Plot? {
        let own = record.series.filter {
            $0.trial.scenario == scenario && $0.metric == .staleness && $0.trial.trial == 0
        }
        let groups = Dictionary(grouping: own) { Digest.Point(driver: $0.trial.driver, variant: $0.trial.variant) }
        // Fewer than 8 values, two for each interval, show no more than percentiles do.
        guard groups.values.contains(where: { $0.count >= 8 }) else { return nil }
        let shown = shownPoints
        let series = shown.enumerated().flatMap { index, point -> [Plot.Series] in
            let points = groups[point, default: []]
            func line(_ statistic: Statistic) -> [Plot.Point] {
                points.filter { $0.statistic == statistic }.sorted { $0.timeNs < $1.timeNs }
                    .map { Plot.Point(Double($0.timeNs) / 1e9, $0.value / 1e9) }
            }
            return [
                self.series(point, index + 1, label: label(point), .line, line(.max)),
                self.series(point, index + 1, label: nil, .dashed, line(.mean)),
            ]
        }
        return Plot(
            title: "staleness over time",
            caption: "First trial, in steps of 250 ms: the maximum of each step, and its mean as a thin dashed line."
                + Self.more(points.count - shown.count),
            xLabel: "seconds since the start of the measured window", yLabel: "staleness",
            x: .plain(isLogarithmic: false), y: .seconds(isLogarithmic: true), series: series)
    }
}
