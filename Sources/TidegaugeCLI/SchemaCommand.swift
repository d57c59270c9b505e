// `tidegauge schema`: prints the JSON Schema with which editors complete and check scenario files.
import ArgumentParser
import TidegaugeScenario

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print a JSON Schema of scenario files.")

    func run() throws { print(ScenarioSchema.json(drivers: Drivers.known), terminator: "") }
}
