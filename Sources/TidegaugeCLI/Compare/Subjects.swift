// Converts scenarios to compared subjects: one per scenario and driver, with its points, the requested metrics and a
// few that every comparison measures.
import TidegaugeCompare
import TidegaugeScenario
import TidegaugeSpec
import TidegaugeTrial

struct Subjects {
    /// Metrics of every trial of a comparison. CPU by role shows changes that latencies do not show.
    private static let alwaysMeasured: [Metric] = [
        .processCPU, .writerCPU, .upkeepCPU, .observerCPU, .achievedRate, .writeServiceTime, .harnessHiccup,
    ]

    private(set) var subjects: [ComparedSubject] = []
    /// Scenarios, or scenarios on a driver, that are left out, with the reason.
    private(set) var skipped: [OneSided] = []

    /// - Parameter areNamed: whether the scenarios were named instead of all being used.
    init(
        _ scenarios: [Scenario], areNamed: Bool, profile: Profile, drivers asked: [String],
        overrides: [String: String]
    ) throws {
        // An interleaving test has no figure to compare commits by.
        for scenario in scenarios where scenario.interleaving == nil {
            // Scenarios about the harness would take time from those about stores.
            if !areNamed, scenario.gate.entry.subject == .harness {
                skipped.append(
                    OneSided(
                        what: scenario.name,
                        why: "its gate '\(scenario.gate.rawValue)' measures the harness or the machine, not a store: "
                            + "--scenario \(scenario.name) compares it"))
                continue
            }
            let drivers = Self.drivers(of: scenario, asked: asked)
            guard !drivers.isEmpty else {
                let named = scenario.drivers.joined(separator: ", ")
                skipped.append(
                    OneSided(
                        what: scenario.name,
                        why: "it runs on \(named), which a comparison uses only if --driver names it"))
                continue
            }
            let trials = try refusing(try scenario.trials(profile: profile, drivers: drivers, overrides: overrides))
            for driver in drivers {
                let points = trials.filter { $0.driver == driver && $0.trial == 0 }
                if !points.isEmpty { add(scenario, driver, points) }
            }
        }
    }

    /// Returns the drivers, without peers and the no-op driver unless they were requested.
    private static func drivers(of scenario: Scenario, asked: [String]) -> [String] {
        RunPlan.drivers(of: scenario, asked: asked).filter { asked.contains($0) || !Drivers.unjudged.contains($0) }
    }

    private mutating func add(_ scenario: Scenario, _ driver: String, _ points: [TrialSpec]) {
        let capabilities = Drivers.all.first { $0.name == driver }?.capabilities
        let obstacle = points.lazy.compactMap { spec in
            capabilities.flatMap { CapabilityCheck.obstacle(spec, $0) }
        }.first
        let gate = scenario.gate
        let misfit =
            gate.isOverSweep
            ? "its gate '\(gate.rawValue)' is a figure over a sweep, and a pair has no sweep" : nil
        if let why = obstacle ?? misfit {
            return skipped.append(OneSided(what: "\(scenario.name) on \(driver)", why: why))
        }
        subjects.append(
            ComparedSubject(
                scenario: scenario.name, driver: driver, purpose: scenario.purpose, gate: scenario.gate.rawValue,
                statistic: scenario.gate.defaultStatistic, points: points.map(Self.asked)))
    }

    /// Removes metrics that need another driver or all points of a sweep, and adds `alwaysMeasured`.
    private static func asked(_ spec: TrialSpec) -> TrialSpec {
        var spec = spec
        let own = spec.metrics.filter { !$0.isOverSweep && !$0.needsNoop && $0.entry.source != .peers }
        spec.measure = (own + alwaysMeasured.filter { !own.contains($0) }).map(\.rawValue)
        return spec
    }
}
