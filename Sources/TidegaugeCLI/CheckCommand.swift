// `tidegauge check`: validates scenario files and runs nothing.
import ArgumentParser

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate scenario files without running them.")

    @OptionGroup var scenarios: ScenarioPaths

    func run() throws {
        for scenario in try scenarios.load() {
            let gate = scenario.namesGate ? "" : ", compared by \(scenario.gate.rawValue) (it names no gate)"
            print("\(scenario.path): \(scenario.name): ok\(gate)")
        }
    }
}
