// `tidegauge list`: what there is to run, run on and measure. Tab-separated, one per line.
import ArgumentParser
import Scenario
import StoreDriver

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List scenarios, drivers or metrics.")

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case scenarios, drivers, metrics
    }

    @Argument(help: "One of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
    var kind: Kind

    @OptionGroup var scenarios: ScenarioPaths

    func run() throws {
        switch kind {
        case .scenarios:
            for scenario in try scenarios.load() { print("\(scenario.name)\t\(scenario.purpose)\t\(scenario.path)") }
        case .drivers:
            for driver in Tidegauge.drivers { print("\(driver.name)\t\(Self.summary(driver.capabilities))") }
        case .metrics:
            for metric in Metric.allCases { print("\(metric.rawValue)\t\(metric.unit)") }
        }
    }

    private static func summary(_ capabilities: Capabilities) -> String {
        var words = Durability.allCases.filter(capabilities.durabilities.contains).map(\.rawValue)
        if capabilities.canDeliverOnRunLoop { words.append("run-loop") }
        if capabilities.canDeliverOnQueue { words.append("queue") }
        if capabilities.keyKinds.contains(.uuid) { words.append("uuid-keys") }
        if capabilities.hasContents { words.append(capabilities.hasChangeSets ? "change-sets" : "whole-values") }
        if capabilities.hasVersions { words.append("versions") }
        if capabilities.advancesTogether { words.append("one-version-per-site") }
        if capabilities.readsBesideWriter { words.append("reads-beside-writer") }
        if capabilities.canCallOnSite { words.append("calls-on-site") }
        if capabilities.persists { words.append("persists") }
        return words.joined(separator: " ") + "\t" + capabilities.remarks.joined(separator: "; ")
    }
}
