import TidegaugeReport
import TidegaugeScenario

extension ScenarioRecord {
    /// Creates the properties of a scenario that reports show.
    init(_ scenario: Scenario) {
        self.init(
            name: scenario.name, path: scenario.path, purpose: scenario.purpose, represents: scenario.represents,
            sha: scenario.sha256, gate: scenario.gate, answers: scenario.answers)
    }
}
