// The drivers of this binary.
import ArgumentParser
import StillingWellSync
import TidegaugeDriver
import TidegaugeScenario

enum Drivers {
    /// Set before anything is parsed.
    private static let given = SetOnce<(all: [any StoreDriver], unjudged: Set<String>)>()

    static var all: [any StoreDriver] { (given.known?.all ?? []) + Engines.all.map(\.driver) }
    /// Names of drivers that run on their own only if the scenario or the command line names them. Limits are judged on
    /// them only if the scenario names them.
    static var unjudged: Set<String> { (given.known?.unjudged ?? []).union(Engines.all.map(\.name)) }

    static var names: [String] { all.map(\.name) }

    /// Drivers that a scenario may name: those of this binary and all others of this package.
    static var known: [String] { names + ShippedDrivers.all.flatMap(\.names).filter { !names.contains($0) } }

    /// Drivers that a scenario names and this binary lacks, with the program that has them.
    static func leftOut(_ scenario: Scenario) -> [(name: String, reason: String)] {
        scenario.drivers.filter { !names.contains($0) }.compactMap { name in
            ShippedDrivers.remedy(name).map { (name, $0) }
        }
    }

    /// - Throws: an exit that names an unknown driver.
    static func check(_ asked: [String]) throws {
        for name in asked where !names.contains(name) {
            if Engines.isCommand(name) {
                throw ValidationError(
                    "--driver '\(name)': an engine by a command runs in `tidegauge run` and `tidegauge conform`, or in "
                        + "`tidegauge compare` with --build, the command that builds it")
            }
            if let remedy = ShippedDrivers.remedy(name) { throw ValidationError(remedy) }
            throw ValidationError("unknown driver '\(name)' \(Nearest.hints(for: name, among: known))")
        }
    }

    static func set(_ drivers: [any StoreDriver], unjudged names: Set<String>) {
        given.set((drivers, names))
    }
}
