// Findings of a trial's companions, for the figures and the result.
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeStatistics
import TidegaugeTrial

struct Findings {
    let window: Window
    /// Number of commits that returned at or after the start of the window; the next property counts those that affect
    /// a measured observer.
    let commits: Int
    let affectingCommits: Int

    var cpu = CPUAccount()
    var hiccups = LatencyHistogram()
    var noise: NoiseAccount?
    var allocations: AllocationAccount?
    var wakeFloor: LatencyHistogram?
    var stalls: LatencyHistogram?
    var versions = VersionFigures()
    var holdings = HoldingsFigures()
    /// Cost of one clock reading in ns.
    var clockNs: Double = 0
    var recording: RecordingCost?
    var recoveryNs: Int64?
    /// Accounts of the hosts if the spec gives its writers hosts.
    var hosts: [HostAccount] = []
    /// Time at which `ServerFault` injected its fault; nil without one.
    var harmedNs: Int64?
    var refusals = 0
    /// Counts by their names in the result.
    var counts: [String: Int] = [:]
    /// Growth of the engine's counters by name: over all commits, or over those that a counted trial counts.
    var counters: [String: Int] = [:]
    /// Logs of queries that were observed for a part of the load.
    var passing: [PassingLog] = []
    /// Violations of the store besides those that the oracle finds.
    var violations: [String] = []
    /// Number of deliberately harmed deliveries; nil if the fault harms none.
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

    /// Returns the held versions and gives up their ownership.
    mutating func handOver() -> [any HeldVersion] {
        defer { held = [] }
        return held
    }
}

struct HoldingsFigures: Sendable {
    var held: [Metric: [(commits: Int, amount: Int)]] = [:]

    /// Returns the last amount, the maximum and the slope per commit.
    func figures(_ metric: Metric) -> [Figure] {
        guard let samples = held[metric], let last = samples.last else { return [] }
        // Two moments suffice for descriptors; amounts that grow in steps need more.
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
    /// Replaces the oracle's violations by the outcome of the fault test: `harmed` deliveries were harmed on purpose.
    mutating func expectCaught(_ spec: TrialSpec, harmed: Int) {
        if harmed == 0 {
            // Without a harmed delivery there is no figure.
            notes.append("fewer deliveries than 'fault.every', so the fault was not injected")
            if let index = figures.firstIndex(where: { $0.metric == .faultsCaught }) { figures[index].value = nil }
            return
        }
        if violationCount > 0 {
            fate = .completed
            notes.append("detected, as expected: \(violations[0])")
            violations = []
            violationCount = 0
        } else {
            fate = .oracleViolation
            violationCount = 1
            violations = [spec.located("the oracle did not detect the fault '\(spec.fault.kind.rawValue)'")]
        }
        if let index = figures.firstIndex(where: { $0.metric == .oracleViolations }) {
            figures[index].value = Double(violationCount)
        }
    }
}
