// Plots over a swept key: upkeep cost with the exponent fitted over the collection's size, coalescing over the rate or
// the burst with the knee (the rate above which commits are coalesced more), and the gate: the metric by which commits
// are compared. Pure.
import Foundation
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension ScenarioPlots {
    /// A family of a sweep: points of one driver that differ only in one key.
    private struct Family: Hashable {
        var driver: String
        /// The other keys with their values, such as `observers.count=1 writers.threads=2`. The flag `at:` has them
        /// with commas.
        var rest: String
    }

    func sweeps() -> [Plot] { keys.flatMap { key in metrics(key).compactMap { plot($0, over: key) } } }

    /// Swept keys with numeric values.
    private var keys: [String] {
        let settings = perTrial.flatMap { Self.settings($0.variant) }
        return Digest.inOrder(settings.map(\.key)).filter { key in
            let values = settings.filter { $0.key == key }.map(\.value)
            return Set(values).count > 1 && values.allSatisfy { Self.number($0) != nil }
        }
    }

    private var perTrial: [RunRow] { record.rows.filter { $0.scenario == scenario && $0.variant != RunRow.overSweep } }

    private func metrics(_ key: String) -> [Metric] {
        let measured = Set(perTrial.map(\.figure.metric))
        var wanted: [Metric] = []
        if measured.contains(.upkeepCost), key != Setting.rate.rawValue { wanted.append(.upkeepCost) }
        if key == Setting.rate.rawValue || key == Setting.burst.rawValue { wanted.append(.coalescingRatio) }
        if let gate = Digest.gateMetric(scenario, record) { wanted.append(gate) }
        return Digest.inOrder(wanted).filter(measured.contains)
    }

    private func plot(_ metric: Metric, over key: String) -> Plot? {
        let statistic = metric.defaultStatistic
        let rows = perTrial.filter { $0.figure.metric == metric && $0.figure.statistic.rawValue == statistic }
        let families = Dictionary(grouping: rows) { Family(driver: $0.driver, rest: Self.rest($0.variant, key)) }
        let isTime = metric.isTime
        let law = Self.laws[metric]
        let y: Plot.Axis = isTime ? .seconds(isLogarithmic: true) : .plain(isLogarithmic: law == .knee)
        var series: [Plot.Series] = []
        var more = 0
        let order = Digest.inOrder(rows.map { Family(driver: $0.driver, rest: Self.rest($0.variant, key)) })
        let (drivers, rests) = (Digest.inOrder(order.map(\.driver)), Digest.inOrder(order.map(\.rest)))
        let constant = Digest.constant(rests.map { $0.replacing(" ", with: ";") })
        func differing(_ rest: String) -> String {
            rests.count > 1
                ? rest.split(separator: " ").filter { !constant.contains(String($0)) }.joined(separator: " ") : ""
        }
        for family in order {
            let byX = Dictionary(grouping: families[family, default: []]) { Self.value($0.variant, key) ?? .nan }
            let points = byX.sorted { $0.key < $1.key }.compactMap { x, rows in
                median(rows.compactMap(\.figure.value)).map { Plot.Point(x, isTime ? $0 / 1e9 : $0) }
            }.filter { $0.x > 0 && (!y.isLogarithmic || $0.y > 0) }
            let slot = series.count { $0.label != nil } + 1
            guard points.count > 1 else { continue }
            // The colour is that of the driver, the pattern that of the other keys.
            let place = drivers.firstIndex(of: family.driver) ?? 0
            let pattern = rests.firstIndex(of: family.rest) ?? 0
            guard slot <= Plot.slots, pattern < Plot.dashes else {
                more += 1
                continue
            }
            let fit = law == .power ? exponent(family, key) : nil
            let knee = law == .knee ? knee(family) : nil
            let words = [
                family.driver, differing(family.rest), fit.map { "β = " + String(format: "%.2f", $0) } ?? "",
                knee.map { "knee at " + Humanised.text($0, unit: "commits/s") + "/s" } ?? "",
            ]
            let line = fit.map { Self.line(points, exponent: $0) } ?? knee.map { Self.knee($0, points) }
            let label = words.filter { !$0.isEmpty }.joined(separator: " ")
            series.append(.init(label, slot, colour: place + 1, dash: pattern, .points, points))
            let style: Plot.Style = line == nil ? .line : .dashed
            series.append(.init(nil, slot, colour: place + 1, dash: pattern, style, line ?? points))
        }
        guard !series.isEmpty else { return nil }
        let name = metric.rawValue + (statistic == "value" ? "" : " \(statistic)")
        return Plot(
            title: "\(name) against \(key)", caption: Self.caption(law) + Self.more(more),
            xLabel: key.replacing("_", with: " "), yLabel: name.replacing("_", with: " "),
            x: .plain(isLogarithmic: true), y: y, series: series)
    }

    /// Known dependence of a metric on a key, drawn with its points.
    private enum Law { case power, knee }

    private static let laws: [Metric: Law] = [.upkeepCost: .power, .coalescingRatio: .knee]

    private static func caption(_ law: Law?) -> String {
        switch law {
        case .power:
            "Medians over trials, those above zero. Dashed: the fitted power law, where there is one "
                + "(β = 0: incremental, 1: every commit looks at everything)."
        case .knee: "Medians over trials. Dashed: the knee, where one was found."
        case nil: "Medians over trials."
        }
    }

    // MARK: Fits

    private func overSweep(_ metric: Metric, _ driver: String) -> [Figure] {
        record.rows.filter {
            $0.scenario == scenario && $0.variant == RunRow.overSweep && $0.driver == driver
                && $0.figure.metric == metric && $0.figure.statistic == .value
        }.map(\.figure)
    }

    private func exponent(_ family: Family, _ key: String) -> Double? {
        guard key == Setting.items.rawValue else { return nil }
        return overSweep(.upkeepExponent, family.driver).first { figure in
            let places = figure.flags.filter(\.isPlace)
            return places.isEmpty || places.contains(.at(point: family.rest.replacing(" ", with: ",")))
        }?.value
    }

    private func knee(_ family: Family) -> Double? { overSweep(.kneeRate, family.driver).first?.value }

    /// Returns the line c · xᵝ with the median c of the points.
    private static func line(_ points: [Plot.Point], exponent: Double) -> [Plot.Point] {
        let usable = points.filter { $0.x > 0 && $0.y > 0 }
        guard let factor = median(usable.map { $0.y / pow($0.x, exponent) }) else { return [] }
        return [usable.first, usable.last].compactMap { $0 }.map { Plot.Point($0.x, factor * pow($0.x, exponent)) }
    }

    private static func knee(_ rate: Double, _ points: [Plot.Point]) -> [Plot.Point] {
        let heights = points.map(\.y)
        return [Plot.Point(rate, heights.min() ?? 1), Plot.Point(rate, heights.max() ?? 1)]
    }

    // MARK: Variants

    private static func settings(_ variant: String) -> [(key: String, value: String)] {
        variant.split(separator: ";").compactMap { part in
            let sides = part.split(separator: "=", maxSplits: 1)
            return sides.count == 2 ? (String(sides[0]), String(sides[1])) : nil
        }
    }

    private static func rest(_ variant: String, _ key: String) -> String {
        settings(variant).filter { $0.key != key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    private static func value(_ variant: String, _ key: String) -> Double? {
        settings(variant).first { $0.key == key }.flatMap { number($0.value) }
    }

    /// Parses `1000`, `0.5` or `200/s`.
    private static func number(_ text: String) -> Double? {
        Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text)
    }
}
