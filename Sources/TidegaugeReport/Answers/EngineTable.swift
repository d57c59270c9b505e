// Engines side by side: a row for each engine at each point of a scenario, with the ratio to the first engine. Pure.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

/// The table of one scenario that several engines ran.
struct EngineTable {
    struct Row: Equatable {
        var driver: String
        var variant: String
        var cells: [String]
        /// Lowest and highest trial of each cell, and their number; empty for a cell of one trial.
        var spreads: [String]
        /// Whether each cell is the best of its point.
        var areBest: [Bool]
        /// The first column as a share of the largest one at the same point, from 0 to 1; nil if it has no value, or
        /// none is above 0.
        var bar: Double?
        /// Trials in which a promise was broken or that failed, of all trials: `0 of 5`.
        var wrong: String
        var isWrong: Bool
        /// Ratios to the first engine: `20× slower at p50 (18 … 22), 95 % interval over 7 pairs`; empty for the first engine.
        var ratios: String
    }

    var scenario: String
    var engine: String
    /// The ratios over all points.
    var overall: [String]
    var columns: [Headline]
    var rows: [Row]

    private static let columns: [Headline] = [
        Headline(metric: .endToEndLatency, statistic: .p50, title: "end-to-end p50"),
        Headline(metric: .endToEndLatency, statistic: .p99, title: "p99"),
        Headline(metric: .writeServiceTime, statistic: .p50, title: "write p50"),
        Headline(metric: .upkeepCost, statistic: .value, title: "CPU/commit"),
        Headline(metric: .writerInstructions, statistic: .value, title: "writer instructions/commit"),
        Headline(metric: .upkeepInstructions, statistic: .value, title: "upkeep instructions/commit"),
        Headline(metric: .observerInstructions, statistic: .value, title: "observer instructions/commit"),
        Headline(metric: .coalescingRatio, statistic: .value, title: "commits/callback"),
        Headline(metric: .residentBytes, statistic: .value, title: "memory"),
    ]

    /// Tables of the scenarios that several engines ran, in the order of the run.
    static func all(_ record: RunRecord) -> [EngineTable] {
        EngineRatios.all(record).map { EngineTable($0, record) }
    }

    private init(_ ratios: EngineRatios, _ record: RunRecord) {
        (scenario, engine, overall) = (ratios.scenario, ratios.engine, ratios.lines)
        let drivers = [ratios.engine] + ratios.peers.map(\.driver)
        let own = record.rows.filter {
            $0.scenario == ratios.scenario && $0.variant != RunRow.overSweep && drivers.contains($0.driver)
        }
        let shown = Self.columns.filter { column in own.contains { column.shows($0.figure) } }
        columns = shown
        rows = Digest.inOrder(own.map(\.variant)).flatMap { variant -> [Row] in
            let here = own.filter { $0.variant == variant }
            func figures(_ driver: String, _ column: Headline) -> [Figure] {
                here.filter { $0.driver == driver && column.shows($0.figure) }.map(\.figure)
            }
            let medians = drivers.map { driver in
                shown.map { median(figures(driver, $0).compactMap(\.value)) }
            }
            let first = medians.map { $0.first.flatMap { $0 } }
            let most = first.compactMap { $0 }.max() ?? 0
            return drivers.enumerated().compactMap { place, driver -> Row? in
                let trials = record.trials.filter {
                    $0.spec.scenario == ratios.scenario && $0.spec.driver == driver && $0.spec.variant == variant
                }
                guard !trials.isEmpty || here.contains(where: { $0.driver == driver }) else { return nil }
                let wrong = trials.count { $0.fate != .completed || !$0.violations.isEmpty }
                return Row(
                    driver: driver, variant: variant, cells: shown.map { Digest.cell(figures(driver, $0)) },
                    spreads: shown.map { Digest.spread(figures(driver, $0)) },
                    areBest: shown.indices.map { column in
                        Self.isBest(medians[place][column], of: medians.map { $0[column] }, shown[column].metric)
                    },
                    bar: first[place].flatMap { most > 0 ? max($0, 0) / most : nil },
                    wrong: "\(wrong) of \(trials.count)", isWrong: wrong > 0,
                    ratios: place == 0
                        ? ""
                        : EngineRatios.text(
                            EngineRatios.metrics.compactMap {
                                EngineRatios.ratio($0, here, ratios.engine, driver)?.reversed
                            }))
            }
        }
    }

    /// Whether a value is the best of several that differ, by the metric's better direction.
    private static func isBest(_ value: Double?, of all: [Double?], _ metric: Metric) -> Bool {
        let known = all.compactMap { $0 }
        guard let value, let low = known.min(), let high = known.max(), low < high else { return false }
        switch metric.entry.worse {
        case .more: return value == low
        case .less: return value == high
        case .neither: return false
        }
    }
}
