// Condensed figures for people: headlines of a scenario, medians over trials, failures. For several formats. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

/// A column of the table of headlines.
struct Headline {
    var metric: Metric
    var statistic: Statistic
    var title: String

    /// Title with the mark of the better direction: `write p50 ↓`.
    var marked: String { [title, metric.entry.worse.mark].filter { !$0.isEmpty }.joined(separator: " ") }

    init(metric: Metric, statistic: Statistic, title: String) {
        (self.metric, self.statistic, self.title) = (metric, statistic, title)
    }

    /// Column of a metric at the statistic that it is compared by.
    init(_ metric: Metric) {
        let statistic = Statistic(rawValue: metric.defaultStatistic)!
        let name = metric.rawValue + (statistic == .value ? "" : " \(statistic.rawValue)")
        let unit = metric.entry.unit.suffix
        self.init(metric: metric, statistic: statistic, title: unit.isEmpty ? name : "\(name), \(unit)")
    }

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
        Headline(metric: .writerInstructions, statistic: .value, title: "writer instructions/commit"),
        Headline(metric: .upkeepInstructions, statistic: .value, title: "upkeep instructions/commit"),
        Headline(metric: .observerInstructions, statistic: .value, title: "observer instructions/commit"),
    ]

    /// Columns of further metrics of the store in `rows`, except those of interleaving tests and those that every trial
    /// reports.
    static func rest(_ rows: [RunRow], after columns: [Headline]) -> [Headline] {
        let known = Set((columns + all).map(\.metric))
        let measured = Set(rows.map(\.figure.metric)).subtracting(known)
        return Metric.ordered(measured).filter { metric in
            let entry = metric.entry
            return entry.subject == .store && entry.source != .interleavingTest && !entry.isOwed
        }.map { Headline($0) }
    }

    /// Columns of a scenario: its gate (the metric by which commits are compared), then the headlines of all scenarios.
    static func columns(gate: Metric?) -> [Headline] {
        guard let gate, gate != .interleavingTestTime else { return all }
        let own = Headline(gate)
        let known = all.first { $0.metric == own.metric && $0.statistic == own.statistic }
        return [known ?? own] + all.filter { $0.metric != own.metric || $0.statistic != own.statistic }
    }
}

extension MetricEntry.Unit {
    /// Text after a number for people; empty for times, whose numbers have their unit, and for ratios.
    var suffix: String { isTime || self == .one ? "" : rawValue }
}

extension RunRow {
    var point: Digest.Point { Digest.Point(driver: driver, variant: variant) }
}

enum Digest {
    /// One driver at one point of the sweep.
    struct Point: Hashable {
        var driver: String
        var variant: String
    }

    /// Formats the median over trials, with `≥` if any trial has only a bound, else with `~` if any is near the cost of
    /// the harness (`at_floor`).
    static func cell(_ figures: [Figure]) -> String {
        guard let unit = figures.first?.metric.unit else { return "-" }
        let text = Humanised.text(median(figures.compactMap(\.value)), unit: unit)
        guard text != "n/a" else { return text }
        let flags = Set(figures.flatMap(\.flags))
        return (flags.contains(.atLeast) ? "≥" : flags.contains(.atFloor) ? "~" : "") + text
    }

    /// `1.10 ms … 1.42 ms, n 5`: the lowest and the highest of several trials. Empty for fewer than two values.
    static func spread(_ figures: [Figure]) -> String {
        let values = figures.compactMap(\.value).filter(\.isFinite)
        guard values.count > 1, let unit = figures.first?.metric.unit, let low = values.min(), let high = values.max()
        else { return "" }
        let ends = inOrder([low, high].map { Humanised.text($0, unit: unit) })
        return "\(ends.joined(separator: " … ")), n \(values.count)"
    }

    /// Like `cell` but for headlines. A negative cost is a difference of two trials below the noise, shown as not
    /// measurable.
    static func headline(_ figures: [Figure]) -> String {
        guard let entry = figures.first?.metric.entry, entry.unit.isTime, !entry.mayBeNegative,
            let value = median(figures.compactMap(\.value)), value < 0
        else { return cell(figures) }
        return "not measurable, noise ± \(Humanised.text(-value, unit: entry.unit.rawValue))"
    }

    /// Returns a line per kind of failure of a point's trials, one for trials that did not keep up with their rate, and one if
    /// they were not steady.
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
        let saturated = outcomes.flatMap(\.flags).filter { $0.word == .saturated }
        if let first = saturated.first {
            let text = first.text.replacing(":", with: " at ")
            notes.append("\(place): \(saturated.count) of \(outcomes.count) trials: \(text), below the rate asked for")
        }
        if rows.contains(where: { $0.figure.flags.contains(.notSteady) }) {
            notes.append("\(place): \(FigureFlag.notSteady.text): \(FigureFlag.Word.notSteady.meaning)")
        }
        return notes
    }

    /// Swept key of a figure over the sweep, and values of the other keys, if there are several keys: `over
    /// observers.count`, `at observers.queries=ranges`.
    static func place(_ figure: Figure) -> [String] {
        figure.flags.filter(\.isPlace).map { $0.text.replacing(":", with: " ") }
    }

    /// The settings of a point: `dataset.items=1000`, `observers.count=10`.
    static func settings(_ variant: String) -> [String] { variant.split(separator: ";").map(String.init) }

    /// The settings that all of several points have in common.
    static func constant(_ variants: [String]) -> [String] {
        guard variants.count > 1, let first = variants.first else { return [] }
        return settings(first).filter { setting in variants.allSatisfy { settings($0).contains(setting) } }
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
            /// Lowest and highest of the trials of each cell, and their number; empty for a cell of one trial.
            var spreads: [String]
        }

        var headlines: [Headline]
        var titles: [String] { headlines.map(\.marked) }
        var rows: [Row]
        var notes: [String]
    }

    /// - Parameters:
    ///   - gate: the metric of the first column; nil for none.
    ///   - asRun: whether points stay in the order of the run. Otherwise the engines of one point are adjacent.
    ///   - hasRest: whether the other measured metrics of the store follow the headlines.
    static func table(
        _ scenario: String, _ rows: [RunRow], gate: Metric?, asRun: Bool = false, hasRest: Bool = false
    ) -> Table {
        let perTrial = rows.filter { $0.scenario == scenario && $0.variant != RunRow.overSweep }
        let columns = Headline.columns(gate: gate)
        let headlines = (columns + (hasRest ? Headline.rest(perTrial, after: columns) : [])).filter { headline in
            perTrial.contains { headline.shows($0.figure) }
        }
        let groups = Dictionary(grouping: perTrial, by: \.point)
        var points = inOrder(perTrial.map(\.point))
        if !asRun {
            let drivers = inOrder(points.map(\.driver))
            points = inOrder(points.map(\.variant)).flatMap { variant in
                drivers.map { Point(driver: $0, variant: variant) }.filter { groups[$0] != nil }
            }
        }
        return Table(
            headlines: headlines,
            rows: points.map { point in
                let figures = groups[point, default: []].map(\.figure)
                return Table.Row(
                    driver: point.driver, variant: point.variant.isEmpty ? "-" : point.variant,
                    cells: headlines.map { headline in cell(figures.filter(headline.shows)) },
                    spreads: headlines.map { headline in spread(figures.filter(headline.shows)) })
            },
            notes: points.flatMap { notes($0, groups[$0, default: []]) })
    }

    /// The figure that comparisons of commits judge.
    struct Gate {
        var driver: String
        /// Name such as `end_to_end_latency p50`.
        var name: String
        /// Value, or the lowest and the highest value over the points of a sweep.
        var text: String
        /// Number of points with a figure.
        var points: Int
        var worse: MetricEntry.Worse

        /// Text such as `, range over 8 points`; empty for one point.
        var range: String { points > 1 ? ", range over \(points) points" : "" }
    }

    /// Metric that stands for a scenario: its gate. If a counted run did not measure the gate, the upkeep instructions
    /// for `upkeep_cost`, and the instructions of the first counted role for other gates.
    static func gateMetric(_ scenario: String, _ record: RunRecord) -> Metric? {
        guard let gate = record.scenario(scenario)?.gate else { return nil }
        func isMeasured(_ metric: Metric) -> Bool {
            record.rows.contains { $0.scenario == scenario && $0.figure.metric == metric }
        }
        guard record.header.counter != nil, !isMeasured(gate) else { return gate }
        let counts: [Metric] = [.writerInstructions, .upkeepInstructions, .observerInstructions]
        return (gate == .upkeepCost ? [.upkeepInstructions] + counts : counts).first(where: isMeasured) ?? gate
    }

    /// Returns the gate for each driver. If the median of a distribution is missing or 0 in any trial, it uses p90, p99
    /// or the maximum: the first of them that is other than 0 in all trials, else the first that is in some.
    static func gate(_ scenario: String, _ record: RunRecord) -> [Gate] {
        guard let metric = gateMetric(scenario, record) else { return [] }
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
            let (text, points) = range(shown)
            return Gate(
                driver: driver, name: metric.rawValue + (statistic == .value ? "" : " \(statistic.rawValue)"),
                text: text, points: points, worse: metric.entry.worse)
        }
    }

    /// Returns the lowest and the highest median of the points that have a figure, and the number of these points.
    private static func range(_ rows: [RunRow]) -> (text: String, points: Int) {
        let points = Dictionary(grouping: rows.filter { $0.figure.value != nil }, by: \.variant).values.map { rows in
            let figures = rows.map(\.figure)
            return (median: median(figures.compactMap(\.value)) ?? .nan, figures: figures)
        }
        let sorted = points.filter { !$0.median.isNaN }.sorted { $0.median < $1.median }
        guard let low = sorted.first, let high = sorted.last else { return ("too few samples", points.count) }
        let unit = rows.first?.figure.metric.entry.unit.suffix ?? ""
        let ends = inOrder([headline(low.figures), headline(high.figures)]).joined(separator: " … ")
        return (unit.isEmpty ? ends : "\(ends) \(unit)", sorted.count)
    }
}
