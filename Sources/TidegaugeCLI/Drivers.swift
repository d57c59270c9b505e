// The drivers that a binary was built with.
import ArgumentParser
import Scenario
import StoreDriver

enum Drivers {
    /// Written once, before anything is parsed.
    nonisolated(unsafe) private(set) static var all: [any StoreDriver] = []
    /// Names of drivers that run only where they are named. Written once, as `all`.
    nonisolated(unsafe) private(set) static var askedFor: Set<String> = []

    static var names: [String] { all.map(\.name) }

    /// - Throws: the exit that says which is none.
    static func check(_ asked: [String]) throws {
        for name in asked where !names.contains(name) {
            throw ValidationError("unknown driver '\(name)' \(Nearest.hint(for: name, among: names))")
        }
    }

    static func set(_ drivers: [any StoreDriver], askedFor names: Set<String>) {
        (all, askedFor) = (drivers, names)
    }
}
