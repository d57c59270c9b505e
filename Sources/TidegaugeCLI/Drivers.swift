// The drivers that a binary was built with.
import ArgumentParser
import TidegaugeDriver
import TidegaugeScenario

enum Drivers {
    /// Written once, before anything is parsed.
    nonisolated(unsafe) private(set) static var all: [any StoreDriver] = []
    /// Names of drivers that run only where they are named. Written once, as `all`.
    nonisolated(unsafe) private(set) static var askedFor: Set<String> = []

    static var names: [String] { all.map(\.name) }

    /// Those that a scenario may name: the ones this binary has, and the others of this package.
    static var known: [String] { names + ShippedDrivers.all.flatMap(\.names).filter { !names.contains($0) } }

    /// Those that a scenario names and this binary has not, with what has them.
    static func leftOut(_ scenario: Scenario) -> [(name: String, reason: String)] {
        scenario.drivers.filter { !names.contains($0) }.compactMap { name in
            ShippedDrivers.remedy(name).map { (name, $0) }
        }
    }

    /// - Throws: the exit that says which is none.
    static func check(_ asked: [String]) throws {
        for name in asked where !names.contains(name) {
            if let remedy = ShippedDrivers.remedy(name) { throw ValidationError(remedy) }
            throw ValidationError("unknown driver '\(name)' \(Nearest.hints(for: name, among: known))")
        }
    }

    static func set(_ drivers: [any StoreDriver], askedFor names: Set<String>) {
        (all, askedFor) = (drivers, names)
    }
}
