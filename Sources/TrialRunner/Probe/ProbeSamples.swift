// What the probes of a trial hand to its figures.
import Measure
import Scenario
import Statistics
import Trials

/// What was measured beside the commits and the deliveries, as far as it was asked for.
struct ProbeSamples: Sendable {
    var wakeFloor: LatencyHistogram?
    var stalls: LatencyHistogram?
    var versions = VersionFigures()
    var holdings = HoldingsFigures()
    /// Of one reading of the clock.
    var clockNs: Double = 0
    var allocations: AllocationAccount?
    var recording: RecordingCost?
    var recoveryNs: Int64?
    var refusals = 0
}

struct VersionFigures: Sendable {
    var highest: Int?
    var last: Int?
    var amplification: Double?
}

struct HoldingsFigures: Sendable {
    var held: [Metric: [(commits: Int, amount: Int)]] = [:]

    /// At the end, at most, and more per commit.
    func figures(_ metric: Metric) -> [Figure] {
        guard let samples = held[metric], let last = samples.last else { return [] }
        // Two moments make a slope of descriptors; of what grows by leaps it takes some more.
        let needed = TrialProvider.holdings[metric]?.looks == .atEnds ? 2 : 8
        let slope =
            samples.count < needed
            ? nil : TheilSen.slope(x: samples.map { Double($0.commits) }, y: samples.map { Double($0.amount) })
        return [
            Figure(metric, .value, Double(last.amount), n: samples.count),
            Figure(metric, .max, samples.map(\.amount).max().map { Double($0) }, n: samples.count),
            Figure(metric, .slope, slope, n: samples.count),
        ]
    }
}
