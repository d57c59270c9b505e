// `tidegauge check`: validates scenario files and runs nothing.
import ArgumentParser
import TidegaugeReport
import TidegaugeSpec

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate scenario files without running them.")

    @OptionGroup var scenarios: ScenarioPaths

    @Option(help: "Profile for which limits with too few samples are named: ci or full (smoke judges no limits).")
    var profile: Profile = .ci

    func run() throws {
        for scenario in try scenarios.load() {
            for problem in scenario.limitsWithoutSamples(in: profile) { printError("\(problem)") }
            let gate = scenario.namesGate ? "" : ", compared by \(scenario.gate.rawValue) (it names no gate)"
            for (_, reason) in Drivers.leftOut(scenario) { printError("\(scenario.path): \(reason)") }
            print(Escaped.visible("\(scenario.path): \(scenario.name): ok\(gate)"))
        }
    }
}
