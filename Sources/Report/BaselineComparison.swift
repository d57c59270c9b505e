// What became worse since a baseline. One run before and one after prove little, so a figure is called worse only where every
// trial of the run is worse than every trial of the baseline by more than matters: of counts, which say the same on a busy
// machine, the metric's threshold; of clocks a quarter, and as advice. It never turns a run red: `compare` does that. Pure.
import Comparison
import Foundation
import Scenario
import Statistics

/// A run held against a baseline.
public struct BaselineComparison: Sendable {
    /// Two runs of one binary, minutes apart on a shared machine, differ by less than this nearly always.
    private static let leastClockShare = 0.25
    /// Lines of each kind; the rest is counted.
    private static let mostLines = 10

    private struct Change {
        var text: String
        /// On the scale of `Criterion`.
        var worsening: Double
    }

    private let name: String
    private let baseline: RunBaseline
    /// Why nothing is compared, as half a sentence.
    private let obstacle: String?
    /// Why no clocks are.
    private var clockObstacle: String?
    private var counts = 0
    private var clocks = 0
    private var worse: [Change] = []
    private var slower: [Change] = []
    /// Scenarios that ask something else by now.
    private var changed: [String] = []

    /// - Parameter name: of the baseline, for people.
    public init(_ run: RunBaseline, since baseline: RunBaseline, name: String) {
        (self.name, self.baseline) = (name, baseline)
        obstacle = Self.obstacle(baseline.origin, run.origin)
        guard obstacle == nil else { return }
        clockObstacle = Self.clockObstacle(baseline, run)
        changed = run.scenarios.keys.sorted().filter { name in
            baseline.scenarios[name].map { $0 != run.scenarios[name] } ?? false
        }
        let before = Dictionary(baseline.series.map { ($0.name, $0.values) }, uniquingKeysWith: { first, _ in first })
        for series in run.series where !changed.contains(series.name.scenario) {
            if let then = before[series.name] { add(series.name, then, series.values) }
        }
        worse.sort { $0.worsening > $1.worsening }
        slower.sort { $0.worsening > $1.worsening }
    }

    private mutating func add(_ name: RunBaseline.Name, _ then: [Double], _ now: [Double]) {
        let isCounted = name.metric.entry.kind.isCounted
        if !isCounted, clockObstacle != nil { return }
        if isCounted { counts += 1 } else { clocks += 1 }
        guard let worsening = Self.worsening(name, then, now) else { return }
        let unit = name.metric.unit
        guard let old = median(then), let new = median(now) else { return }
        let share = old > 0 ? " (\(ComparedCells.share(new / old - 1)))" : ""
        let values = "\(Humanised.text(old, unit: unit)) → \(Humanised.text(new, unit: unit))"
        let change = Change(
            text: "\(name.text): \(values)\(name.metric.isTime ? "" : " \(unit)")\(share)", worsening: worsening)
        if isCounted { worse.append(change) } else { slower.append(change) }
    }

    /// By how much the best trial of now is worse than the worst of then; nil where that does not matter.
    private static func worsening(_ name: RunBaseline.Name, _ then: [Double], _ now: [Double]) -> Double? {
        let ends =
            name.metric.entry.worse == .less
            ? (then: then.min(), now: now.max()) : (then: then.max(), now: now.min())
        guard let worst = ends.then, let best = ends.now else { return nil }
        let criterion = Criterion(metric: name.metric.rawValue, statistic: name.statistic.rawValue)
            .fitting([worst, best])
        let isCounted = name.metric.entry.kind.isCounted
        // A time at or under zero has no ratio, and its difference depends on the machine.
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
            pairs.append(("instructions counted by \(before.rawValue)", "instructions counted by \(after.rawValue)"))
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
                    "the machine is not as it was: \(yardstick.rawValue) took \(Humanised.text(oldNs, unit: "ns")), and "
                    + "takes \(Humanised.text(newNs, unit: "ns"))"
            }
        }
        return nil
    }

    // MARK: In words

    /// A line for each figure that became worse, the worst first.
    public var details: [String] {
        Self.lines(worse, "worse than '\(name)'") + Self.lines(slower, "slower than '\(name)', as advice")
    }

    /// The whole in a line or a few.
    public var summary: [String] {
        let title = "baseline '\(name)' (\(baseline.runID))"
        if let obstacle { return ["\(title): not compared: \(obstacle)"] }
        let hint = worse.isEmpty ? "" : " (`tidegauge compare` says whether, and which function)"
        let clock = clockObstacle.map { "clocks not compared: \($0)" } ?? "\(slower.count) of \(clocks) clocks slower"
        var lines = ["\(title): \(worse.count) of \(Humanised.count(counts, "count")) worse\(hint), \(clock)"]
        if !changed.isEmpty {
            lines.append("not compared, as they were changed since: \(changed.joined(separator: ", "))")
        }
        return lines
    }

    private static func lines(_ changes: [Change], _ what: String) -> [String] {
        let rest = changes.count - mostLines
        return changes.prefix(mostLines).map { "\(what): \($0.text)" } + (rest > 0 ? ["\(what): and \(rest) more"] : [])
    }
}
