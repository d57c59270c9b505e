// What the companions of a trial have found, on its way to the figures and the result.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct Findings {
    let window: Window
    /// Commits that returned at or after the start of the window, and those of them that affect a measured observer.
    let commits: Int
    let affectingCommits: Int

    var cpu = CPUAccount()
    var hiccups = LatencyHistogram()
    var noise: NoiseAccount?
    var allocations: AllocationAccount?
    // What was measured beside the commits and the deliveries, as far as it was asked for.
    var wakeFloor: LatencyHistogram?
    var stalls: LatencyHistogram?
    var versions = VersionFigures()
    var holdings = HoldingsFigures()
    /// Of one reading of the clock.
    var clockNs: Double = 0
    var recording: RecordingCost?
    var recoveryNs: Int64?
    /// Of the hosts that wrote, where a trial has several.
    var hosts: [HostAccount] = []
    /// When something was done to the server, or to connections to it.
    var harmedNs: Int64?
    var refusals = 0
    /// By the name they have in the result.
    var counts: [String: Int] = [:]
    /// Of queries that were watched for a part of the load.
    var passing: [PassingLog] = []
    /// What is wrong with the store, beside what the oracle sees.
    var violations: [String] = []
    /// Deliveries that were harmed on purpose; nil where none was to be.
    var harmedDeliveries: Int?

    init(_ window: Window, commits: Int, affectingCommits: Int) {
        (self.window, self.commits, self.affectingCommits) = (window, commits, affectingCommits)
    }

    init(_ history: History, _ plan: QueryAssignment, _ window: Window) {
        let observed = Set(plan.queryOfObserver.prefix(plan.mainObservers))
        let affecting = Set(observed.flatMap { history.queries[$0].commits })
        let returned = history.commits.indices.filter { history.commits[$0].record.committedNs >= window.startNs }
        self.init(
            window, commits: returned.count, affectingCommits: returned.count { affecting.contains(Int32($0)) })
    }
}

struct VersionFigures: Sendable {
    var highest: Int?
    var last: Int?
    var amplification: Double?
    var held: [any HeldVersion] = []

    /// What is held, for who lets go of it.
    mutating func handOver() -> [any HeldVersion] {
        defer { held = [] }
        return held
    }
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

extension TrialResult {
    /// Turns what the oracle saw into what was looked for: deliveries were harmed on purpose, so many of them.
    mutating func expectCaught(_ spec: TrialSpec, harmed: Int) {
        if harmed == 0 {
            // Nothing was to be seen, and nothing is said.
            notes.append("fewer deliveries than 'fault.every': none was harmed")
            if let index = figures.firstIndex(where: { $0.metric == .faultsCaught }) { figures[index].value = nil }
            return
        }
        if violationCount > 0 {
            fate = .completed
            notes.append("caught, as it should be: \(violations[0])")
            violations = []
            violationCount = 0
        } else {
            fate = .oracleViolation
            violationCount = 1
            violations = [spec.located("the oracle is blind: a \(spec.fault.kind.rawValue) of deliveries was not seen")]
        }
        if let index = figures.firstIndex(where: { $0.metric == .oracleViolations }) {
            figures[index].value = Double(violationCount)
        }
    }
}
