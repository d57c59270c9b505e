import TidegaugeReport
import TidegaugeScenario

extension ScenarioRecord {
    /// The facts of a scenario that a report states.
    init(_ scenario: Scenario) {
        self.init(
            name: scenario.name, path: scenario.path, purpose: scenario.purpose, represents: scenario.represents,
            sha: scenario.sha256, gate: scenario.gate)
    }
}
