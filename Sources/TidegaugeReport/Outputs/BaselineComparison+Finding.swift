// Findings against a baseline. Two single runs prove little. A figure is only called worse if every trial is worse than
// every baseline trial: for counts by the metric's threshold, for times and rates by 25 % and as advice. If times are
// not comparable, figures that depend on pace are not compared either. A finding does not fail a run. Pure.
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics

extension BaselineComparison {
    /// Two runs of one binary, minutes apart on a shared machine, rarely differ by this share.
    private static let leastClockShare = 0.25

    /// Counts of timed trials that depend on how many commits are coalesced.
    private static let paced: Set<Metric> = [
        .upkeepAllocations, .upkeepBytes, .observerBytes, .engineBytes, .liveBytes, .residentBytes, .fileBytes,
        .spaceAmplification,
    ]

    /// - Parameter name: name of the baseline, for people.
    public init(_ run: RunBaseline, since kept: RunBaseline.Kept, name: String) {
        switch kept {
        case .baseline(let baseline): self.init(run, since: baseline, name: name)
        case .otherVersion(let version):
            self.init(
                name: name,
                obstacle: "its format has version \(version), and this tidegauge's \(RunBaseline.currentVersion)")
        }
    }

    init(_ run: RunBaseline, since baseline: RunBaseline, name: String) {
        self.init(name: name, runID: baseline.runID, obstacle: Self.obstacle(baseline.origin, run.origin))
        guard obstacle == nil else { return }
        clockObstacle = Self.clockObstacle(baseline, run)
        changed = run.scenarios.keys.sorted().filter { name in
            baseline.scenarios[name].map { $0 != run.scenarios[name] } ?? false
        }
        let before = Dictionary(baseline.series.map { ($0.name, $0.values) }, uniquingKeysWith: { first, _ in first })
        var found: [(change: Change, worsening: Double)] = []
        for series in run.series where !changed.contains(series.name.scenario) {
            let metric = series.name.metric
            let isCounted = metric.entry.kind.isCounted
            let isOfProgramAlone = isCounted && !Self.paced.contains(metric)
            guard let then = before[series.name], isOfProgramAlone || clockObstacle == nil else { continue }
            if isCounted { counts += 1 } else { clocks += 1 }
            if let worse = Self.change(series.name, then, series.values) { found.append(worse) }
        }
        found.sort { $0.worsening > $1.worsening }
        worse = found.map(\.change).filter(\.isCounted)
        slower = found.map(\.change).filter { !$0.isCounted }
    }

    /// Returns a worsening above its threshold and its size on the scale of `Criterion`, or nil.
    private static func change(
        _ name: RunBaseline.Name, _ then: [Double], _ now: [Double]
    ) -> (change: Change, worsening: Double)? {
        guard let worsening = worsening(name, then, now), let old = median(then), let new = median(now) else {
            return nil
        }
        return (Change(what: name.text, metric: name.metric, then: old, now: new), worsening)
    }

    /// Returns by how much the best current trial is worse than the worst baseline trial, or nil if that is not above
    /// the threshold.
    private static func worsening(_ name: RunBaseline.Name, _ then: [Double], _ now: [Double]) -> Double? {
        let ends =
            name.metric.entry.worse == .less
            ? (then: then.min(), now: now.max()) : (then: then.max(), now: now.min())
        guard let worst = ends.then, let best = ends.now else { return nil }
        let criterion = Criterion(metric: name.metric.rawValue, statistic: name.statistic.rawValue)
            .fitting([worst, best])
        let isCounted = name.metric.entry.kind.isCounted
        // A time ≤ 0 has no ratio, and differences of times depend on the machine.
        guard isCounted || criterion.scale == .ratio else { return nil }
        let least = isCounted ? criterion.delta : max(criterion.delta, log1p(leastClockShare))
        return criterion.worsening(base: worst, head: best).flatMap { $0 > least ? $0 : nil }
    }

    private static func obstacle(_ then: RunBaseline.Origin, _ now: RunBaseline.Origin) -> String? {
        func machine(_ origin: RunBaseline.Origin) -> String {
            "\(origin.cpuModel), \(Humanised.count(origin.cores, "core")), \(origin.architecture)"
        }
        func settings(_ origin: RunBaseline.Origin) -> String {
            let seed = origin.seed.map { " --seed \($0)" } ?? ""
            return "--profile \(origin.profile.rawValue)\(seed)" + origin.overrides.map { " --set \($0)" }.joined()
        }
        var pairs = [
            (machine(then), machine(now)), ("a \(then.buildConfiguration) build", "a \(now.buildConfiguration) build"),
            (settings(then), settings(now)),
        ]
        if let before = then.counter, let after = now.counter {
            func counting(_ counter: InstructionCounter, _ origin: RunBaseline.Origin) -> String {
                "instructions counted by \(counter.rawValue), method \(origin.countMethod ?? 1)"
            }
            pairs.append((counting(before, then), counting(after, now)))
        }
        return pairs.first { $0 != $1 }.map { "it was made with \($0.0), and this run with \($0.1)" }
    }

    private static func clockObstacle(_ then: RunBaseline, _ now: RunBaseline) -> String? {
        for yardstick in Yardstick.allCases {
            guard let oldNs = then.yardsticksNs[yardstick], let newNs = now.yardsticksNs[yardstick] else {
                return "the yardstick \(yardstick.rawValue) was not steady in both runs"
            }
            if !YardstickReading.isSame(oldNs, newNs) {
                return
                    "the machine has changed: \(yardstick.rawValue) took \(Humanised.text(oldNs, unit: "ns")), and "
                    + "takes \(Humanised.text(newNs, unit: "ns"))"
            }
        }
        return nil
    }
}

extension BaselineComparison.Change {
    var isCounted: Bool { metric.entry.kind.isCounted }
}
