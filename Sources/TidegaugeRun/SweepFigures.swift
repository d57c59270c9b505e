// Figures over the points of a sweep, from all trials of one driver. Pure.
//
// A sweep may contain several families of points that differ only in one setting. Each family with two or more values
// of the setting has its own figure. If the sweep has further keys, a flag `at:…` names the family.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

/// A finished trial, of this run or of an earlier part of a resumed run.
public struct KnownTrial: Sendable {
    public var figures: [Figure]
    public var record: TrialRecord
    /// Samples of its distributions; empty for trials of an earlier part.
    public var samples: [HistogramRecord]

    public init(figures: [Figure], record: TrialRecord, samples: [HistogramRecord] = []) {
        (self.figures, self.record, self.samples) = (figures, record, samples)
    }

    var spec: TrialSpec { record.spec }

    fileprivate func figure(_ metric: Metric) -> Figure? { figures.first { $0.metric == metric } }

    func value(_ metric: Metric, _ statistic: Statistic = .value) -> Double? {
        figures.first { $0.metric == metric && $0.statistic == statistic }?.value
    }
}

struct SweepFigures {
    /// A trial of one point.
    typealias Point = KnownTrial

    let points: [Point]

    /// Computes figures over one family of points, from x values, the trials at each x, and flags to add.
    typealias Provider = @Sendable (SweepFigures) -> (_ x: [Double], [[Point]], [FigureFlag]) -> [Figure]

    static let providers: [Metric: Provider] = [
        .upkeepExponent: { $0.exponent(.upkeepExponent, of: .upkeepCost) },
        .upkeepGrowth: { $0.growth(.upkeepGrowth, of: .upkeepCost) },
        .instructionsExponent: { $0.exponent(.instructionsExponent, of: .engineInstructions) },
        .instructionsGrowth: { $0.growth(.instructionsGrowth, of: .engineInstructions) },
        .fanoutCost: { $0.fanoutCost },
        .sustainableRate: { $0.sustainableRate },
        .kneeRate: { $0.kneeRate },
    ]

    /// Returns the figures over each setting that the metric's entry names and the sweep varies.
    func figures(_ metric: Metric) -> [Figure] {
        guard case .sweep(let settings) = metric.entry.source, let provider = Self.provider(metric) else { return [] }
        return settings.flatMap { setting in Self.axes[setting].map { over(setting.rawValue, $0, provider(self)) } ?? []
        }
    }

    private static func provider(_ metric: Metric) -> Provider? {
        guard case .engineExponent(let counter) = metric else { return providers[metric] }
        return { $0.exponent(metric, of: .engine(counter: counter)) }
    }

    static let axes: [Setting: @Sendable (Point) -> Double] = [
        .items: { Double($0.spec.dataset.items) },
        .observerCount: { Double($0.spec.observers.count) },
        .idleQueries: { Double($0.spec.observers.idleQueries) },
        .rate: { $0.spec.writers.rateHz },
    ]

    /// Slope β of log(cost) over log(x).
    private func exponent(
        _ metric: Metric, of cost: Metric
    ) -> (_ x: [Double], _ points: [[Point]], _ flags: [FigureFlag]) -> [Figure] {
        { x, points, flags in
            let y = points.map { trials in median(trials.compactMap { $0.figure(cost)?.value }) ?? .nan }
            let fit = LogLogSlope.fit(x: x, y: y.map { $0.isNaN ? 0 : $0 })
            var flags = flags
            if let fit, fit.droppedPoints > 0 { flags.append(.dropped(points: fit.droppedPoints)) }
            if points.joined().contains(where: { $0.figure(cost)?.flags.contains(.atFloor) ?? false }) {
                flags.append(.atFloor)
            }
            return [Figure(metric, .value, fit?.exponent, n: fit?.usedPoints ?? 0, flags: flags)]
        }
    }

    /// Ratio of the cost at the last point to that at the first, per repetition, then the median. The points of one
    /// repetition are measured close together, so that drift of the machine cancels.
    private func growth(
        _ metric: Metric, of cost: Metric
    ) -> (_ x: [Double], _ points: [[Point]], _ flags: [FigureFlag]) -> [Figure] {
        { _, points, flags in
            let first = Dictionary(
                points[0].map { ($0.spec.trial, $0.figure(cost)?.value) }, uniquingKeysWith: { a, _ in a })
            let ratios = points[points.count - 1].compactMap { point -> Double? in
                guard let last = point.figure(cost)?.value, let first = first[point.spec.trial] ?? nil, first > 0 else {
                    return nil
                }
                return last / first
            }
            return [Figure(metric, .value, median(ratios), n: ratios.count, flags: flags)]
        }
    }

    /// Theil–Sen line: `value` is ns of process CPU per observer and commit, `low` that of a commit without observers.
    private func fanoutCost(_ x: [Double], _ points: [[Point]], _ flags: [FigureFlag]) -> [Figure] {
        let (x, y) = Self.medians(x, points, \.record.processCPUPerCommitNs)
        let line = TheilSen.fit(x: x, y: y)
        return [
            Figure(.fanoutCost, .value, line?.slope, n: x.count, flags: flags),
            Figure(.fanoutCost, .low, line?.intercept, n: x.count, flags: flags),
        ]
    }

    /// Returns x and the median over trials for all points with a value.
    static func medians(_ x: [Double], _ points: [[Point]], _ value: (Point) -> Double?) -> (x: [Double], y: [Double]) {
        let usable = zip(x, points).compactMap { x, trials in median(trials.compactMap(value)).map { (x, $0) } }
        return (usable.map(\.0), usable.map(\.1))
    }

    private func over(
        _ key: String, _ x: (Point) -> Double, _ figures: ([Double], [[Point]], [FigureFlag]) -> [Figure]
    ) -> [Figure] {
        let families = Dictionary(grouping: points) { Self.rest($0.spec.variant, without: key) }
            .filter { _, points in Set(points.map(x)).count > 1 }
            .sorted { $0.key < $1.key }
        return families.flatMap { family, points in
            let byX = Dictionary(grouping: points, by: x).sorted { $0.key < $1.key }
            let flags = families.count > 1 || !family.isEmpty ? [FigureFlag.over(key: key), .at(point: family)] : []
            return figures(byX.map(\.key), byX.map(\.value), flags)
        }
    }

    /// Removes a key from a variant. Separates with commas, because flags cannot contain semicolons.
    private static func rest(_ variant: String, without key: String) -> String {
        variant.split(separator: ";").filter { !$0.hasPrefix(key + "=") }.joined(separator: ",")
    }
}
