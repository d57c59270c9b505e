// Condensed figures for people: headlines of a scenario, medians over trials, failures. For several formats. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

/// A column of the table of headlines.
struct Headline {
    var metric: Metric
    var statistic: Statistic
    var title: String

    func shows(_ figure: Figure) -> Bool { figure.metric == metric && figure.statistic == statistic }

    static let all = [
        Headline(metric: .writeServiceTime, statistic: .p50, title: "write p50"),
        Headline(metric: .deliveryLatency, statistic: .p50, title: "delivery p50"),
        Headline(metric: .endToEndLatency, statistic: .p50, title: "end-to-end p50"),
        Headline(metric: .endToEndLatency, statistic: .p99, title: "p99"),
        Headline(metric: .staleness, statistic: .p99, title: "staleness p99"),
        Headline(metric: .coalescingRatio, statistic: .value, title: "commits/callback"),
        Headline(metric: .upkeepCost, statistic: .value, title: "upkeep/commit"),
        Headline(metric: .harnessCost, statistic: .value, title: "harness/commit"),
        Headline(metric: .missedFinal, statistic: .value, title: "missed"),
    ]
}

extension RunRow {
    var point: Digest.Point { Digest.Point(driver: driver, variant: variant) }
}

enum Digest {
    /// The rows of one driver at one point of the sweep, over all trials.
    struct Point: Hashable {
        var driver: String
        var variant: String
    }

    /// Formats the median over trials, with `≥` if any trial has only a bound, and `~` if any is at the harness's
    /// floor.
    static func cell(_ figures: [Figure]) -> String {
        guard let unit = figures.first?.metric.unit else { return "-" }
        let text = Humanised.text(median(figures.compactMap(\.value)), unit: unit)
        guard text != "n/a" else { return text }
        let flags = Set(figures.flatMap(\.flags))
        return (flags.contains(.atLeast) ? "≥" : flags.contains(.atFloor) ? "~" : "") + text
    }

    /// Like `cell` but for headlines. A negative cost is a difference of two trials below the noise, shown as not
    /// measurable.
    static func headline(_ figures: [Figure]) -> String {
        guard let entry = figures.first?.metric.entry, entry.unit.isTime, !entry.mayBeNegative,
            let value = median(figures.compactMap(\.value)), value < 0
        else { return cell(figures) }
        return "not measurable, noise ± \(Humanised.text(-value, unit: entry.unit.rawValue))"
    }

    /// Returns a line per kind of failure of a point's trials, and one if they were not steady.
    static func notes(_ point: Point, _ rows: [RunRow]) -> [String] {
        let outcomes = rows.map(\.figure).filter { $0.metric == .trialOutcome }
        let place = [point.driver, point.variant].filter { !$0.isEmpty }.joined(separator: " ")
        var notes: [String] = []
        let failed = outcomes.filter { $0.value != 0 }
        for flags in inOrder(failed.map(\.flags)) {
            let count = failed.count { $0.flags == flags }
            let fate = flags.map(\.text).joined(separator: ", ")
            notes.append("\(place): \(count) of \(outcomes.count) trials: \(fate)")
        }
        if rows.contains(where: { $0.figure.flags.contains(.notSteady) }) {
            notes.append("\(place): \(FigureFlag.notSteady.text): \(FigureFlag.Word.notSteady.meaning)")
        }
        return notes
    }

    /// Family of a figure over the sweep: `over observers.count`, `at observers.queries=ranges`.
    static func place(_ figure: Figure) -> [String] {
        figure.flags.filter(\.isPlace).map { $0.text.replacing(":", with: " ") }
    }

    static func inOrder<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }

    // MARK: Tables and headlines

    /// Headline figures of a scenario, with a row per point and driver.
    struct Table {
        struct Row {
            var driver: String
            var variant: String
            var cells: [String]
        }

        var titles: [String]
        var rows: [Row]
        var notes: [String]
    }

    /// - Parameter asRun: whether points stay in the order of the run. Otherwise the engines of one point are adjacent.
    static func table(_ scenario: String, _ rows: [RunRow], asRun: Bool = false) -> Table {
        let perTrial = rows.filter { $0.scenario == scenario && $0.variant != RunRow.overSweep }
        let headlines = Headline.all.filter { headline in perTrial.contains { headline.shows($0.figure) } }
        let groups = Dictionary(grouping: perTrial, by: \.point)
        var points = inOrder(perTrial.map(\.point))
        if !asRun {
            let drivers = inOrder(points.map(\.driver))
            points = inOrder(points.map(\.variant)).flatMap { variant in
                drivers.map { Point(driver: $0, variant: variant) }.filter { groups[$0] != nil }
            }
        }
        return Table(
            titles: headlines.map(\.title),
            rows: points.map { point in
                let figures = groups[point, default: []].map(\.figure)
                return Table.Row(
                    driver: point.driver, variant: point.variant.isEmpty ? "-" : point.variant,
                    cells: headlines.map { headline in cell(figures.filter(headline.shows)) })
            },
            notes: points.flatMap { notes($0, groups[$0, default: []]) })
    }

    /// The figure that comparisons of commits judge.
    struct Gate {
        var driver: String
        /// Name such as `end_to_end_latency p50`.
        var name: String
        /// Value, or the values at the first and last point of a sweep.
        var text: String
    }

    /// Returns the gate for each driver. If the median of a distribution is missing or 0, it uses the first higher
    /// percentile with a value.
    static func gate(_ scenario: String, _ record: RunRecord) -> [Gate] {
        guard let metric = record.scenario(scenario)?.gate else { return [] }
        let rows = record.rows.filter { $0.scenario == scenario && $0.figure.metric == metric }
        let defaultStatistic = Statistic(rawValue: metric.defaultStatistic)!
        let isDistribution = if case .distribution = metric.entry.shape { true } else { false }
        let statistics = [defaultStatistic] + (isDistribution ? [.p90, .p99, .max] : [])
        return inOrder(rows.map(\.driver)).map { driver in
            let own = rows.filter { $0.driver == driver }
            func values(_ statistic: Statistic) -> [Double] {
                own.filter { $0.figure.statistic == statistic }.compactMap(\.figure.value)
            }
            let telling =
                statistics.first { !values($0).isEmpty && values($0).allSatisfy { $0 != 0 } }
                ?? statistics.first { values($0).contains { $0 != 0 } }
            let statistic = telling ?? statistics.first { !values($0).isEmpty } ?? defaultStatistic
            let shown = own.filter { $0.figure.statistic == statistic }
            return Gate(
                driver: driver, name: metric.rawValue + (statistic == .value ? "" : " \(statistic.rawValue)"),
                text: ends(shown))
        }
    }

    /// Formats the values at the first and last point of a sweep that have one.
    private static func ends(_ rows: [RunRow]) -> String {
        let variants = inOrder(rows.filter { $0.figure.value != nil }.map(\.variant))
        guard let first = variants.first, let last = variants.last else { return "too few samples" }
        let cells = inOrder([first, last]).map { variant in
            headline(rows.filter { $0.variant == variant }.map(\.figure))
        }
        return inOrder(cells).joined(separator: " … ")
    }
}
