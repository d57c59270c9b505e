// Plots of a comparison: effects, pairs over time, shift by quantile, and power. Pure.
import Foundation
import TidegaugeCompare
import TidegaugeStatistics

enum ComparisonPlots {
    /// Colour slots by meaning.
    private enum Slot {
        static let effect = 1
        static let confirming = 2
        static let threshold = 5
        static let void = 8
    }

    /// Intervals, estimates and thresholds of the gates that have a ratio, in the order of the table.
    static func forest(_ gates: [ComparedRow]) -> Plot? {
        var intervals: [Plot.Point] = []
        var estimates: [Plot.Point] = []
        var thresholds: [Plot.Point] = []
        for (index, row) in gates.enumerated() {
            let y = Double(index + 1)
            // Differences do not fit an axis of shares; they are only in the table.
            guard let change = row.change, !row.isDifference else { continue }
            estimates.append(Plot.Point(change, y))
            if let low = row.low, let high = row.high { intervals += [Plot.Point(low, y), Plot.Point(high, y)] }
            let criterion = Criterion(metric: row.name.metric, statistic: row.name.statistic)
            let threshold = criterion.change(criterion.delta)
            thresholds += [Plot.Point(threshold, y - 0.35), Plot.Point(threshold, y + 0.35)]
        }
        let rows = Double(gates.count)
        return Plot(
            title: "effects of the gates",
            caption: "A row per gate, numbered as in the table. A bar is the 95 % interval of the change; changes "
                + "beyond the vertical line matter.",
            xLabel: "change from base to head", yLabel: "gate", x: .change, y: .rows,
            series: [
                .init(nil, Slot.void, .dashed, [.init(0, 0.5), .init(0, rows + 0.5)]),
                .init("95 % interval", Slot.effect, .segments, intervals), .init(nil, Slot.effect, .points, estimates),
                .init("threshold", Slot.threshold, .segments, thresholds),
            ]
        ).drawable()
    }

    /// Change of each pair by its time.
    static func pairs(_ track: GateTrack) -> Plot? {
        let criterion = track.criterion
        let isDifference = criterion.scale == .difference
        // Plots show times in seconds.
        let unit = isDifference && criterion.unit.hasPrefix("ns") ? 1e-9 : 1
        func points(_ pairs: [PairRecord]) -> [Plot.Point] {
            pairs.compactMap { pair in
                pair.worsening(track.gate, on: criterion).map {
                    .init(pair.atSeconds / 60, unit * criterion.change($0))
                }
            }
        }
        let all = track.screen + track.confirm + track.voids
        guard let end = all.map(\.atSeconds).max(), all.count > 1 else { return nil }
        let delta = unit * criterion.change(criterion.delta)
        return Plot(
            title: "pairs in time order: \(track.gate)",
            caption: "A drift of the machine is a slope here. It affects both sides of each pair.",
            xLabel: "minutes since the start", yLabel: isDifference ? "head − base" : "change",
            x: .plain(isLogarithmic: false),
            y: !isDifference ? .change : unit < 1 ? .seconds(isLogarithmic: false) : .plain(isLogarithmic: false),
            series: [
                .init("screening", Slot.effect, .points, points(track.screen)),
                .init("confirming", Slot.confirming, .points, points(track.confirm)),
                .init("void", Slot.void, .points, points(track.voids)),
                .init(nil, Slot.void, .dashed, [.init(0, 0), .init(end / 60, 0)]),
                .init("threshold", Slot.threshold, .dashed, [.init(0, delta), .init(end / 60, delta)]),
            ]
        ).drawable()
    }

    /// Change of each quantile of the gate's samples at the first sweep point.
    static func shift(_ track: GateTrack, _ plan: ComparisonPlan) -> Plot? {
        let shift = MergedSamples.shift(
            track.gate.metric, track.screen + track.confirm, 0, seed: plan.seed, resamples: min(plan.resamples, 2_000))
        guard shift.count > 1 else { return nil }
        func line(_ pick: (ComparedRow.Interval) -> Double) -> [Plot.Point] {
            shift.map { .init($0.share * 100, pick($0.change)) }
        }
        return Plot(
            title: "shift of \(track.gate.metric)",
            caption: "All samples of all pairs. A level line is a shift of all samples; a line that rises to the "
                + "right is a shift of the tail. Dashed: 95 %, bootstrap over pairs.",
            xLabel: "percentile", yLabel: "change", x: .plain(isLogarithmic: false), y: .change,
            series: [
                .init(nil, Slot.effect, .line, line(\.change)), .init(nil, Slot.effect, .dashed, line(\.low)),
                .init(nil, Slot.effect, .dashed, line(\.high)),
                .init(nil, Slot.void, .dashed, [.init(0, 0), .init(100, 0)]),
            ]
        ).drawable()
    }

    /// Probability that this number of pairs with this noise detects a change, by its size.
    static func power(_ effect: PairedEffect, threshold: Double) -> Plot? {
        guard effect.sigma > 0, let detectable = effect.detectable else { return nil }
        let most = max(4 * detectable, 3 * threshold)
        let reach = (0.955 * Double(effect.pairs)).squareRoot() / effect.sigma
        let curve = stride(from: 0.0, through: most, by: most / 60).map { size in
            Plot.Point(expm1(size), Normal.cumulative(size * reach - Normal.quantile(0.99)))
        }
        return Plot(
            title: "detectable change",
            caption: "The chance that \(effect.pairs) pairs as noisy as these show a change of that size (α = 1 %).",
            xLabel: "true change", yLabel: "probability of detection", x: .change, y: .plain(isLogarithmic: false),
            series: [
                .init(nil, Slot.effect, .line, curve),
                .init("threshold", Slot.threshold, .dashed, [.init(threshold, 0), .init(threshold, 1)]),
            ]
        ).drawable()
    }
}
