// The drivers that a binary was built with.
import StoreDriver

enum Drivers {
    /// Written once, before anything is parsed.
    nonisolated(unsafe) private(set) static var all: [any StoreDriver] = []
    /// Names of drivers that run only where they are named. Written once, as `all`.
    nonisolated(unsafe) private(set) static var askedFor: Set<String> = []

    static var names: [String] { all.map(\.name) }

    static func set(_ drivers: [any StoreDriver], askedFor names: Set<String>) {
        all = drivers
        askedFor = names
    }
}
