// What a few lines can say of many figures: the headline of a scenario, medians over trials, what did not go well. Shared
// by the formats for people. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

/// One column of the table.
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

    /// The median over trials; `≥` where any trial knows only a bound, `~` where any is at the floor of what can be
    /// measured.
    static func cell(_ figures: [Figure]) -> String {
        guard let unit = figures.first?.metric.unit else { return "-" }
        let text = Humanised.text(median(figures.compactMap(\.value)), unit: unit)
        guard text != "n/a" else { return text }
        let flags = Set(figures.flatMap(\.flags))
        return (flags.contains(.atLeast) ? "≥" : flags.contains(.atFloor) ? "~" : "") + text
    }

    /// The same in large type, where a cost that came out at or under zero would be read as one: it is the difference of two
    /// trials, and what it lies under zero by is noise.
    static func headline(_ figures: [Figure]) -> String {
        guard let entry = figures.first?.metric.entry, entry.unit.isTime, !entry.mayBeNegative,
            let value = median(figures.compactMap(\.value)), value < 0
        else { return cell(figures) }
        return "not measurable, noise ± \(Humanised.text(-value, unit: entry.unit.rawValue))"
    }

    /// One line per way in which trials of a point did not end well or were not steady.
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

    /// Of which family of a sweep a figure is: `over observers.count`, `at observers.queries=ranges`.
    static func place(_ figure: Figure) -> [String] {
        figure.flags.filter(\.isPlace).map { $0.text.replacing(":", with: " ") }
    }

    static func inOrder<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }

    // MARK: Tables and headlines

    /// Headline figures of one scenario: a row per point and driver, engines side by side.
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

    /// - Parameter asRun: points in the order they were run, whichever their engines.
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

    /// The figure that commits are compared by.
    struct Gate {
        var driver: String
        /// `end_to_end_latency p50`.
        var name: String
        /// Over a sweep, at its first and its last point.
        var text: String
    }

    /// Of a distribution whose median is not there, or lies at zero (nobody waits half of the time), the first percentile
    /// beyond it that says something.
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

    /// At the first and the last point of a sweep that have a figure.
    private static func ends(_ rows: [RunRow]) -> String {
        let variants = inOrder(rows.filter { $0.figure.value != nil }.map(\.variant))
        guard let first = variants.first, let last = variants.last else { return "too few samples" }
        let cells = inOrder([first, last]).map { variant in
            headline(rows.filter { $0.variant == variant }.map(\.figure))
        }
        return inOrder(cells).joined(separator: " … ")
    }
}
